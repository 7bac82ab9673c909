// The users of a merchant: people who sign in to its console. Changes of a merchant's users are serialised, so that two
// of them cannot take the same address or together remove the last owner.
import type { Deps } from '../../platform/deps.js';
import { noteChange } from '../../platform/mongodb/audit.js';
import { countInsert, insertWithQuota } from '../../platform/mongodb/insertWithQuota.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { remove, update } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { Statement, Transaction } from '../../platform/mongodb/transaction.js';
import type { UserRow } from '../../schemas/access/access.rows.js';
import { ownerRole } from '../../schemas/access/users.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { newId } from '../../schemas/shared/ids.js';
import { type HeldKey, heldBy, revocationsOf } from './apiKeys.writes.js';
import { limitOf } from './merchants.reads.js';
import { type CheckGrant, requireRemovable, requireRoles } from './roles.writes.js';
import { type Maker, standingOf } from './standing.reads.js';

const changesOf = (merchantId: string): string => `users:${merchantId}`;

/** Sorted by address; the number of a merchant's users is limited. */
export const listUsers = (deps: Deps, { merchantId }: { merchantId: string }): Promise<UserRow[]> =>
  deps.collections.users.find({ merchantId }).sort({ email: 1 }).toArray();

export const findUser = (deps: Deps, at: { merchantId: string; email: string }): Promise<UserRow | null> =>
  deps.collections.users.findOne(at);

export interface CreateUser {
  merchantId: string;
  email: string;
  roleIds: string[];
  createdBy: string;
  checkGrant: CheckGrant;
  /** When another user invites him. */
  maker?: Maker;
}

/** Throws ROLE_NOT_FOUND, USER_EXISTS, USER_LIMIT_REACHED and the errors of `checkGrant` and `standingOf`. */
export async function createUser(deps: Deps, input: CreateUser): Promise<UserRow> {
  const { merchantId, email, createdBy } = input;
  const row: UserRow = {
    _id: newId(),
    merchantId,
    email,
    roleIds: await requireRoles(deps, input),
    version: 1,
    createdAt: deps.now(),
    createdBy,
  };
  const quota = await limitOf(deps, { merchantId, limit: 'users' });
  let standing: Transaction | undefined;
  await insertWithQuota(deps, {
    merchantId,
    owner: changesOf(merchantId),
    async countHeld() {
      if (await findUser(deps, { merchantId, email })) throw new ServiceError('USER_EXISTS');
      return deps.collections.users.countDocuments({ merchantId }, { limit: quota });
    },
    quota,
    refusal: new ServiceError('USER_LIMIT_REACHED'),
    name: 'users',
    async rows() {
      standing = await standingOf(deps, { maker: input.maker, needs: 'users:edit', roleIds: row.roleIds });
      return [row];
    },
    also: () => standing,
  });
  return row;
}

interface ChangeUser {
  merchantId: string;
  id: string;
  checkGrant: CheckGrant;
  /** Whether the keys that the user created end with the change. They are the merchant's, and otherwise go on working. */
  revokeKeys?: boolean;
}

/** `keys` are those that the user created and that were active before the change. */
export interface ChangedUser {
  user: UserRow;
  keys: HeldKey[];
}

/**
 * `checkGrant` is called for the permissions of added roles and for those of removed roles, not for roles that stay.
 * Throws USER_NOT_FOUND, ROLE_NOT_FOUND, LAST_OWNER and the errors of `checkGrant`.
 */
export async function changeRoles(
  deps: Deps,
  { roleIds, ...change }: ChangeUser & { roleIds: string[] },
): Promise<ChangedUser> {
  const { merchantId, checkGrant } = change;
  return changeUser(deps, change, async (user) => {
    const [held, kept] = [new Set(user.roleIds), new Set(roleIds)];
    await requireRoles(deps, { merchantId, roleIds: roleIds.filter((id) => !held.has(id)), checkGrant });
    await requireRemovable(deps, { merchantId, roleIds: user.roleIds.filter((id) => !kept.has(id)), checkGrant });
    return { roleIds: [...kept], statements: [] };
  });
}

/** Also ends the sessions of the user. Throws USER_NOT_FOUND, LAST_OWNER and the errors of `checkGrant`. */
export async function removeUser(deps: Deps, change: ChangeUser): Promise<ChangedUser> {
  return changeUser(deps, change, async (user) => {
    await requireRemovable(deps, { ...user, checkGrant: change.checkGrant });
    // The update before these statements conflicts with each concurrent sign-in, so one of the two fails.
    const statements = [remove(deps, 'sessions', { userId: user._id }), remove(deps, 'users', { _id: user._id })];
    return { roleIds: [], statements };
  });
}

async function changeUser(
  deps: Deps,
  { merchantId, id, revokeKeys = false }: ChangeUser,
  changeOf: (user: UserRow) => Promise<{ roleIds: string[]; statements: Statement[] }>,
): Promise<ChangedUser> {
  const owner = changesOf(merchantId);
  return deps.runExclusive(owner, () =>
    retryOnConflict(deps, async () => {
      const { counted, expectedMatches } = await countInsert(deps, { merchantId, owner });
      const user = await deps.collections.users.findOne({ _id: id, merchantId });
      if (!user) throw new ServiceError('USER_NOT_FOUND');
      const { roleIds, statements } = await changeOf(user);
      if (user.roleIds.includes(ownerRole) && !roleIds.includes(ownerRole)) await requireOtherOwner(deps, user);
      const keys = await heldBy(deps, { merchantId, createdBy: id });
      const revoked = revocationsOf(deps, revokeKeys ? keys : []);
      const isChanged = noteChange(deps, { roleIds: user.roleIds }, { roleIds });
      if (!isChanged && revoked.updates.length + statements.length === 0) return { user, keys };
      const version = user.version + 1;
      const changed = update(deps, 'users', { _id: id, version: user.version }, { $set: { roleIds, version } });
      await transact(
        deps,
        [counted, changed, ...revoked.updates, ...statements, ...revoked.audits],
        expectedMatches + 1 + revoked.updates.length,
      );
      return { user: { ...user, roleIds, version }, keys };
    }),
  );
}

/** Throws LAST_OWNER. */
async function requireOtherOwner(deps: Deps, { merchantId, _id }: UserRow): Promise<void> {
  const other = await deps.collections.users.findOne({ merchantId, roleIds: ownerRole, _id: { $ne: _id } });
  if (!other) throw new ServiceError('LAST_OWNER');
}
