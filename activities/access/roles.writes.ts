// Roles: named sets of permissions, of one merchant or built in. A role never changes, so its holders cannot gain a
// permission later. It can be deleted; its holders lose its permissions at once.
import type { Deps } from '../../platform/deps.js';
import { removeOne } from '../../platform/mongodb/changeOne.js';
import { insertWithQuota } from '../../platform/mongodb/insertWithQuota.js';
import type { RoleRow } from '../../schemas/access/access.rows.js';
import type { Permission } from '../../schemas/access/permissions.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { newId } from '../../schemas/shared/ids.js';
import { limitOf } from './merchants.reads.js';

/** The roles among these that belong to the merchant or are built in. */
export const findRoles = (
  deps: Deps,
  { merchantId, ids }: { merchantId: string; ids: readonly string[] },
): Promise<RoleRow[]> =>
  deps.collections.roles.find({ _id: { $in: [...ids] }, merchantId: { $in: [merchantId, null] } }).toArray();

/** Called with all permissions that are to be granted or taken away; throws when the caller may not do that. */
export type CheckGrant = (permissions: readonly Permission[]) => void;

/** Returns the ids of the roles without duplicates. Throws ROLE_NOT_FOUND and the errors of `checkGrant`. */
export async function requireRoles(
  deps: Deps,
  { merchantId, roleIds, checkGrant }: { merchantId: string; roleIds: readonly string[]; checkGrant: CheckGrant },
): Promise<string[]> {
  const ids = [...new Set(roleIds)];
  const roles = await findRoles(deps, { merchantId, ids });
  if (roles.length !== ids.length) throw new ServiceError('ROLE_NOT_FOUND');
  checkGrant(roles.flatMap((role) => role.permissions));
  return ids;
}

/** For roles that are taken away. A role that was deleted grants nothing. Throws the errors of `checkGrant`. */
export async function requireRemovable(
  deps: Deps,
  { merchantId, roleIds, checkGrant }: { merchantId: string; roleIds: readonly string[]; checkGrant: CheckGrant },
): Promise<void> {
  const roles = await findRoles(deps, { merchantId, ids: roleIds });
  checkGrant(roles.flatMap((role) => role.permissions));
}

/** The built-in roles, then the merchant's own in the order of their ids. */
export const listRoles = (deps: Deps, { merchantId }: { merchantId: string }): Promise<RoleRow[]> =>
  deps.collections.roles
    .find({ merchantId: { $in: [null, merchantId] } })
    .sort({ merchantId: 1, _id: 1 })
    .toArray();

/** Throws ROLE_LIMIT_REACHED. */
export async function createRole(
  deps: Deps,
  { merchantId, name, permissions }: { merchantId: string; name: string; permissions: readonly Permission[] },
): Promise<RoleRow> {
  const row: RoleRow = { _id: newId(), merchantId, name, permissions: [...new Set(permissions)] };
  const quota = await limitOf(deps, { merchantId, limit: 'roles' });
  await insertWithQuota(deps, {
    merchantId,
    owner: `roles:${merchantId}`,
    countHeld: () => deps.collections.roles.countDocuments({ merchantId }, { limit: quota }),
    quota,
    refusal: new ServiceError('ROLE_LIMIT_REACHED'),
    name: 'roles',
    rows: async () => [row],
  });
  return row;
}

/** Throws UNKNOWN_ROLE, also for a built-in role, and the errors of `checkGrant`. */
export async function deleteRole(
  deps: Deps,
  { merchantId, id, checkGrant }: { merchantId: string; id: string; checkGrant: CheckGrant },
): Promise<void> {
  await requireRemovable(deps, { merchantId, roleIds: [id], checkGrant });
  if (!(await removeOne(deps, 'roles', { _id: id, merchantId }))) throw new ServiceError('UNKNOWN_ROLE');
}
