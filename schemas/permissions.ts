// Permissions are the interface's strings (section 5.8); a role is a named set of them.

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

/** Roles that every merchant has; their ids are these words. */
export const builtInRoles: Record<string, readonly Permission[]> = {
  owner: permissions,
  integration: permissions.filter((permission) => !isKeyPermission(permission)),
  viewer: permissions.filter((permission) => permission.endsWith(':view') && !isKeyPermission(permission)),
};
