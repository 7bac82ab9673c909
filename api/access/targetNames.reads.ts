// The present names of what the entries of an audit are about, for callers who may view those things. The audit itself
// stores no names, so an erased member has none.

import type { Deps } from '../../platform/deps.js';
import type { AuditRow } from '../../schemas/access/access.rows.js';
import type { AuditAction } from '../../schemas/access/audit.schema.js';
import type { Permission } from '../../schemas/access/permissions.schema.js';
import { chosenProgramKey, programIdOf } from '../../schemas/shared/ids.js';
import { displayName } from '../../schemas/wallets/passes.view.js';

interface TargetNames {
  merchantId: string;
  permissions: ReadonlySet<Permission>;
  rows: readonly Pick<AuditRow, 'action' | 'targetId'>[];
}

type Named = readonly [id: string, name: string | undefined];

interface Kind {
  needs: Permission;
  read: (deps: Deps, where: { _id: { $in: string[] }; merchantId: string }) => Promise<Named[]>;
}

async function programNames(
  { collections }: Deps,
  { ids, merchantId }: { ids: string[]; merchantId: string },
): Promise<Named[]> {
  const keys = ids.flatMap((id) => [id, chosenProgramKey(merchantId, id)]);
  const where = { _id: { $in: keys }, merchantId };
  const [live, drafts] = await Promise.all([
    collections.programs.find(where, { projection: { name: 1 } }).toArray(),
    collections.programDrafts.find(where, { projection: { 'content.name': 1 } }).toArray(),
  ]);
  return [
    ...drafts.map(({ _id, content }): Named => [programIdOf(_id), content?.name]),
    ...live.map(({ _id, name }): Named => [programIdOf(_id), name]),
  ];
}

/** The program of the rule of an automatic message. */
const programOf = (ruleId: string): string => ruleId.slice(0, ruleId.lastIndexOf(':'));

const kinds: Record<string, Kind> = {
  member: {
    needs: 'merchants.members:view',
    async read({ collections }, where) {
      const shown = { projection: { firstName: 1, lastName: 1, memberCode: 1 } };
      const found = await collections.members.find(where, shown).toArray();
      return found.map((member) => [member._id, displayName(member) ?? member.memberCode]);
    },
  },
  program: {
    needs: 'merchants.programs:view',
    read: (deps, { _id: { $in: ids }, merchantId }) => programNames(deps, { ids, merchantId }),
  },
  automatic: {
    needs: 'merchants.programs:view',
    async read(deps, { _id: { $in: ids }, merchantId }) {
      const names = new Map(await programNames(deps, { ids: ids.map(programOf), merchantId }));
      return ids.map((id): Named => [id, names.get(programOf(id))]);
    },
  },
  webhook: {
    needs: 'merchants.campaigns:view',
    async read({ collections }, where) {
      const found = await collections.subscriptions.find(where, { projection: { name: 1 } }).toArray();
      return found.map(({ _id, name }) => [_id, name]);
    },
  },
  user: {
    needs: 'users:view',
    async read({ collections }, where) {
      const found = await collections.users.find(where, { projection: { email: 1 } }).toArray();
      return found.map(({ _id, email }) => [_id, email]);
    },
  },
  role: {
    needs: 'users:view',
    async read({ collections }, where) {
      const found = await collections.roles.find(where, { projection: { name: 1 } }).toArray();
      return found.map(({ _id, name }) => [_id, name]);
    },
  },
  reader: {
    needs: 'readers:edit',
    async read({ collections }, where) {
      const found = await collections.readers.find(where, { projection: { name: 1 } }).toArray();
      return found.map(({ _id, name }) => [_id, name]);
    },
  },
  'api-key': {
    needs: 'api-keys:view',
    async read({ collections }, where) {
      const found = await collections.apiKeys.find(where, { projection: { name: 1 } }).toArray();
      return found.map(({ _id, name }) => [_id, name]);
    },
  },
};

const kindOf = (action: AuditAction): string => action.split('.')[0] ?? '';

/** The names by the ids of the targets: one query for each kind of target. */
export async function targetNames(
  deps: Deps,
  { merchantId, permissions, rows }: TargetNames,
): Promise<ReadonlyMap<string, string>> {
  const found = await Promise.all(
    Object.entries(kinds).map(async ([kind, { needs, read }]) => {
      const ids = rows.filter(({ action }) => kindOf(action) === kind).map(({ targetId }) => targetId);
      if (ids.length === 0 || !permissions.has(needs)) return [];
      return read(deps, { _id: { $in: [...new Set(ids)] }, merchantId });
    }),
  );
  return new Map(found.flat().flatMap(([id, name]) => (name === undefined ? [] : [[id, name] as const])));
}
