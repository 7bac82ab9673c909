// Permissions, named as in docs/interface.md#54-permissions-and-roles; a role is a named set of permissions.

export const permissions = [
  'merchants.programs:view',
  'merchants.members:view',
  'merchants.members:create',
  'merchants.members:edit',
  'merchants.campaigns:view',
  'merchants.campaigns:create',
  'merchants.campaigns:edit',
  'merchants.campaigns:delete',
  'api-keys:view',
  'api-keys:create',
  'api-keys:delete',
] as const;

export type Permission = (typeof permissions)[number];

const isKeyPermission = (permission: Permission) => permission.startsWith('api-keys:');

/** Roles that every merchant has; the keys are the ids of the roles. */
export const builtInRoles: Record<string, readonly Permission[]> = {
  owner: permissions,
  integration: permissions.filter((permission) => !isKeyPermission(permission)),
  viewer: permissions.filter((permission) => permission.endsWith(':view') && !isKeyPermission(permission)),
};
