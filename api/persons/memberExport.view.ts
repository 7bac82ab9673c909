// Everything that is stored about a member, as one JSON document. It is streamed row by row, because the number of rows
// is unbounded.
import { Readable } from 'node:stream';
import { memberRows } from '../../activities/persons/memberRows.reads.js';
import type { Permission } from '../../schemas/access/permissions.schema.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { exportedRow } from '../../schemas/persons/exportedRow.rules.js';
import { personalData } from '../../schemas/persons/personalData.schema.js';
import { programIdOf } from '../../schemas/shared/ids.js';
import { type CollectionName, collectionNames } from '../../schemas/tables/collections.js';
import type { ApiDeps } from '../http/apiDeps.js';

const about = collectionNames.filter((name) => personalData[name].ofMember);

/** What needs a permission besides the one to read members. */
const needed: Partial<Record<CollectionName, Permission>> = { audit: 'audit:view' };

interface MemberExport {
  member: MemberRow;
  permissions: ReadonlySet<Permission>;
}

const ofCaller = ({ programId, ...row }: Record<string, unknown>) => ({
  ...row,
  ...(typeof programId === 'string' && { programId: programIdOf(programId) }),
});

/** Names what it leaves out because the caller may not see it. */
export function memberExport(deps: ApiDeps, { member, permissions }: MemberExport): Readable {
  const leftOut = about.filter((name) => needed[name] && !permissions.has(needed[name]));
  async function* parts() {
    const head = { id: member._id, exportedAt: deps.now().toISOString(), leftOut };
    yield `{"success":true,"data":${JSON.stringify(head).slice(0, -1)},"kept":{`;
    for (const [index, name] of about.filter((one) => !leftOut.includes(one)).entries()) {
      yield `${index > 0 ? ',' : ''}${JSON.stringify(name)}:[`;
      let separator = '';
      for await (const row of memberRows(deps, name, member)) {
        yield separator + JSON.stringify(ofCaller(exportedRow(name, row)));
        separator = ',';
      }
      yield ']';
    }
    yield '}}}';
  }
  return Readable.from(parts());
}
