// The permissions are those of docs/interface.md#54-permissions-and-roles, and a role is a named set of them.
import { describe, expect, expectTypeOf, it } from 'vitest';
import { endpoints } from '../../schemas/endpoints/index.js';
import { builtInRoles, type Permission, permissions } from '../../schemas/permissions.js';

const views = ['merchants.campaigns:view', 'merchants.members:view', 'merchants.programs:view', 'users:view'];

describe('permissions', () => {
  it('are those of the interface, with separate ones for reading', () => {
    expect([...permissions].sort()).toEqual(
      [
        ...views,
        'merchants.members:create',
        'merchants.members:edit',
        'merchants.campaigns:create',
        'merchants.campaigns:edit',
        'merchants.campaigns:delete',
        'api-keys:view',
        'api-keys:create',
        'api-keys:delete',
        'users:edit',
      ].sort(),
    );
    expectTypeOf<Permission>().toEqualTypeOf<(typeof permissions)[number]>();
  });

  it('are each used by an endpoint, and each endpoint needs one or is public', () => {
    const needed = new Set<string>(Object.values(endpoints).map((endpoint) => endpoint.access));
    needed.delete('public');
    expect([...needed].sort()).toEqual([...permissions].sort());
  });
});

describe('the built-in roles', () => {
  it('are owner, manager, integration and viewer', () => {
    expect(Object.keys(builtInRoles).sort()).toEqual(['integration', 'manager', 'owner', 'viewer']);
  });

  it('allow an owner everything, manager and integration everything but keys and users, and a viewer to read everything but keys', () => {
    expect([...(builtInRoles.owner ?? [])].sort()).toEqual([...permissions].sort());
    for (const role of [builtInRoles.manager, builtInRoles.integration])
      expect([...(role ?? [])].sort()).toEqual(
        permissions.filter((permission) => !/^(?:api-keys|users):/.test(permission)).sort(),
      );
    expect([...(builtInRoles.viewer ?? [])].sort()).toEqual(views);
  });
});
