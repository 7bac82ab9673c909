// Everything that is stored about a member, as one JSON document. It is streamed row by row, because the number of rows
// is unbounded.
import { Readable } from 'node:stream';
import { memberRows } from '../activities/personal/memberRows.js';
import { collectionNames, type MemberRow } from '../schemas/collections.js';
import { exportedRow } from '../schemas/exportedRow.js';
import { personalData } from '../schemas/personalData.js';
import type { ApiDeps } from './apiDeps.js';

const about = collectionNames.filter((name) => personalData[name].ofMember);

export function memberExport(deps: ApiDeps, member: MemberRow): Readable {
  async function* parts() {
    const head = { id: member._id, exportedAt: deps.now().toISOString() };
    yield `{"success":true,"data":${JSON.stringify(head).slice(0, -1)},"kept":{`;
    for (const [index, name] of about.entries()) {
      yield `${index > 0 ? ',' : ''}${JSON.stringify(name)}:[`;
      let separator = '';
      for await (const row of memberRows(deps, name, member)) {
        yield separator + JSON.stringify(exportedRow(name, row));
        separator = ',';
      }
      yield ']';
    }
    yield '}}}';
  }
  return Readable.from(parts());
}
