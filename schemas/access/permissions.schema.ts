// Permissions, named as in docs/interface.md#54-permissions-and-roles; a role is a named set of permissions.
import { ServiceError } from '../shared/errors.js';

export const permissions = [
  'merchants.programs:view',
  'merchants.programs:edit',
  'merchants.members:view',
  'merchants.members:create',
  'merchants.members:edit',
  'merchants.members:delete',
  'merchants.campaigns:view',
  'merchants.campaigns:create',
  'merchants.campaigns:edit',
  'merchants.campaigns:delete',
  'api-keys:view',
  'api-keys:create',
  'api-keys:delete',
  'users:view',
  'users:edit',
  'audit:view',
  'readers:edit',
  'till:use',
] as const;

export type Permission = (typeof permissions)[number];

const without = (...prefixes: string[]): Permission[] =>
  permissions.filter((permission) => !prefixes.some((prefix) => permission.startsWith(prefix)));

/** Roles that every merchant has; the keys are the ids of the roles. */
export const builtInRoles: Record<string, readonly Permission[]> = {
  owner: permissions,
  manager: without('api-keys:', 'users:', 'merchants.members:delete'),
  integration: without(
    'api-keys:',
    'users:',
    'merchants.members:delete',
    'merchants.programs:edit',
    'audit:',
    'till:',
    'readers:',
  ),
  till: ['till:use'],
  viewer: without('api-keys:').filter((permission) => permission.endsWith(':view')),
};

/** The requested permissions that are not held. Nobody can grant a permission that they do not hold. */
export const permissionsBeyond = (held: ReadonlySet<Permission>, asked: Iterable<Permission>): Permission[] =>
  [...new Set(asked)].filter((permission) => !held.has(permission));

export const permissionDenied = (missing: readonly Permission[]): ServiceError =>
  new ServiceError('PERMISSION_DENIED', { missing }, `The credential lacks ${missing.join(', ')}.`);
