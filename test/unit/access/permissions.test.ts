// The permissions are those of docs/interface.md#54-permissions-and-roles, and a role is a named set of them.
import { describe, expect, expectTypeOf, it } from 'vitest';
import { builtInRoles, type Permission, permissions } from '../../../schemas/access/permissions.schema.js';
import { endpoints } from '../../../schemas/tables/endpoints.js';

const views = [
  'audit:view',
  'merchants.campaigns:view',
  'merchants.members:view',
  'merchants.programs:view',
  'users:view',
];

describe('permissions', () => {
  it('are those of the interface, with separate ones for reading', () => {
    expect([...permissions].sort()).toEqual(
      [
        ...views,
        'merchants.programs:edit',
        'merchants.members:create',
        'merchants.members:edit',
        'merchants.members:delete',
        'merchants.campaigns:create',
        'merchants.campaigns:edit',
        'merchants.campaigns:delete',
        'api-keys:view',
        'api-keys:create',
        'api-keys:delete',
        'users:edit',
        'readers:edit',
        'till:use',
      ].sort(),
    );
    expectTypeOf<Permission>().toEqualTypeOf<(typeof permissions)[number]>();
  });

  it('are each used by an endpoint or a built-in role, and each endpoint needs one, a session, or nothing', () => {
    const needed = new Set<string>(Object.values(endpoints).map((endpoint) => endpoint.access));
    for (const other of ['public', 'session']) needed.delete(other);
    const onlyInRoles = ['merchants.members:delete'].filter((permission) => !needed.has(permission));
    expect([...needed, ...onlyInRoles].sort()).toEqual([...permissions].sort());
  });
});

describe('the built-in roles', () => {
  it('are owner, manager, integration, till and viewer', () => {
    expect(Object.keys(builtInRoles).sort()).toEqual(['integration', 'manager', 'owner', 'till', 'viewer']);
  });

  const sorted = (role: string) => [...(builtInRoles[role] ?? [])].sort();
  const all = [...permissions].sort();

  it('allow an owner everything, and a manager everything but keys, users and erasing members', () => {
    expect(sorted('owner')).toEqual(all);
    expect(sorted('manager')).toEqual(
      all.filter((permission) => !/^(?:api-keys|users):|^merchants.members:delete$/.test(permission)),
    );
  });

  it('allow an integration to read programs, work with members and run campaigns, and a till to be a till', () => {
    expect(sorted('integration')).toEqual(
      all.filter((permission) => /^merchants\.(?:programs:view|members:(?!delete)|campaigns:)/.test(permission)),
    );
    expect(sorted('till')).toEqual(['till:use']);
  });

  it('allow a viewer to read everything but keys', () => {
    expect(sorted('viewer')).toEqual(views);
  });
});
