// The users of a merchant: people who sign in to its console. Changes of a merchant's users are serialised, so that two
// of them cannot take the same address or together remove the last owner.
import type { Deps } from '../../platform/deps.js';
import { countInsert, insertWithQuota } from '../../platform/mongodb/insertWithQuota.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { remove, update } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { Statement } from '../../platform/mongodb/transaction.js';
import type { UserRow } from '../../schemas/collections.js';
import { ServiceError } from '../../schemas/errors.js';
import { newId } from '../../schemas/ids.js';
import { ownerRole } from '../../schemas/users.js';
import { limitOf } from './merchants.js';
import { type CheckGrant, requireRemovable, requireRoles } from './roles.js';

interface OneUser {
  merchantId: string;
  id: string;
}

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
}

/** Throws ROLE_NOT_FOUND, USER_EXISTS, USER_LIMIT_REACHED and the errors of `checkGrant`. */
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
    rows: async () => [row],
  });
  return row;
}

/**
 * `checkGrant` is called for the permissions of added roles and for those of removed roles, not for roles that stay.
 * Throws USER_NOT_FOUND, ROLE_NOT_FOUND, LAST_OWNER and the errors of `checkGrant`.
 */
export async function changeRoles(
  deps: Deps,
  { checkGrant, ...wanted }: OneUser & { roleIds: string[]; checkGrant: CheckGrant },
): Promise<UserRow> {
  return changeUser(deps, wanted, async (user) => {
    const { merchantId } = wanted;
    const [held, kept] = [new Set(user.roleIds), new Set(wanted.roleIds)];
    await requireRoles(deps, { merchantId, roleIds: wanted.roleIds.filter((id) => !held.has(id)), checkGrant });
    await requireRemovable(deps, { merchantId, roleIds: user.roleIds.filter((id) => !kept.has(id)), checkGrant });
    const roleIds = [...kept];
    return { after: { ...user, roleIds, version: user.version + 1 }, statements: [] };
  });
}

/** Also ends the sessions of the user. Throws USER_NOT_FOUND, LAST_OWNER and the errors of `checkGrant`. */
export async function removeUser(
  deps: Deps,
  { checkGrant, ...at }: OneUser & { checkGrant: CheckGrant },
): Promise<void> {
  await changeUser(deps, at, async (user) => {
    await requireRemovable(deps, { ...user, checkGrant });
    return {
      after: { ...user, roleIds: [], version: user.version + 1 },
      // The update before these statements conflicts with each concurrent sign-in, so one of the two fails.
      statements: [remove(deps, 'sessions', { userId: user._id }), remove(deps, 'users', { _id: user._id })],
    };
  });
}

interface UserChange {
  after: UserRow;
  statements: Statement[];
}

async function changeUser(
  deps: Deps,
  { merchantId, id }: OneUser,
  changeOf: (user: UserRow) => Promise<UserChange>,
): Promise<UserRow> {
  const owner = changesOf(merchantId);
  return deps.runExclusive(owner, () =>
    retryOnConflict(deps, async () => {
      const { counted, expectedMatches } = await countInsert(deps, { merchantId, owner });
      const user = await deps.collections.users.findOne({ _id: id, merchantId });
      if (!user) throw new ServiceError('USER_NOT_FOUND');
      const { after, statements } = await changeOf(user);
      if (user.roleIds.includes(ownerRole) && !after.roleIds.includes(ownerRole)) await requireOtherOwner(deps, user);
      const { roleIds, version } = after;
      const changed = update(deps, 'users', { _id: id, version: user.version }, { $set: { roleIds, version } });
      await transact(deps, [counted, changed, ...statements], expectedMatches + 1);
      return after;
    }),
  );
}

/** Throws LAST_OWNER. */
async function requireOtherOwner(deps: Deps, { merchantId, _id }: UserRow): Promise<void> {
  const other = await deps.collections.users.findOne({ merchantId, roleIds: ownerRole, _id: { $ne: _id } });
  if (!other) throw new ServiceError('LAST_OWNER');
}
