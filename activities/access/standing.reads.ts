// Whether who gives access to others still may, decided in the transaction that gives it: he may have been removed or
// demoted since his request was authenticated.
import type { Deps } from '../../platform/deps.js';
import { update } from '../../platform/mongodb/statements.js';
import type { Transaction } from '../../platform/mongodb/transaction.js';
import type { UserRow } from '../../schemas/access/access.rows.js';
import { type Permission, permissionDenied, permissionsBeyond } from '../../schemas/access/permissions.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { findRoles } from './roles.writes.js';

/** A user who signed in here. Keys, operators and users of another console have no row that could end. */
export type Maker = Pick<UserRow, '_id' | 'merchantId'> | undefined;

interface Giving {
  maker: Maker;
  needs: Permission;
  /** The roles that are given. */
  roleIds: readonly string[];
}

/**
 * A statement that conflicts with each concurrent change of the user. Throws INVALID_TOKEN for a user who was removed,
 * PERMISSION_DENIED for one who lost a permission that it takes.
 */
export async function standingOf(deps: Deps, { maker, needs, roleIds }: Giving): Promise<Transaction> {
  if (!maker) return { statements: [], expectedMatches: 0 };
  const { _id, merchantId } = maker;
  const user = await deps.collections.users.findOne({ _id, merchantId });
  if (!user) throw new ServiceError('INVALID_TOKEN');
  const permissionsOf = async (ids: readonly string[]) =>
    (await findRoles(deps, { merchantId, ids })).flatMap((role) => role.permissions);
  const held = new Set(await permissionsOf(user.roleIds));
  const missing = permissionsBeyond(held, [needs, ...(await permissionsOf(roleIds))]);
  if (missing.length > 0) throw permissionDenied(missing);
  const { version } = user;
  return {
    statements: [update(deps, 'users', { _id, version }, { $set: { version: version + 1 } })],
    expectedMatches: 1,
  };
}
