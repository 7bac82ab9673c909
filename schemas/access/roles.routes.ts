// Endpoints: docs/interface.md#54-permissions-and-roles.
import { z } from 'zod';
import { endpoint, pageOf, paging } from './endpoint.schema.js';
import { role, roleRequest } from './roles.schema.js';

const tag = 'Roles';
const all = '/merchants/me/roles';

export const roleEndpoints = {
  listRoles: endpoint('get', all, {
    tag,
    summary: "List the built-in roles and the merchant's own",
    access: 'users:view',
    otherAccess: 'users:edit',
    query: paging,
    result: pageOf(role),
  }),
  createRole: endpoint('post', all, {
    tag,
    summary: 'Create a role',
    description: 'A role cannot be changed. Permissions that the caller does not hold are refused with 403.',
    access: 'users:edit',
    audit: { action: 'role.create', writes: ['roles'] },
    body: roleRequest,
    result: role,
    statuses: [201],
    errors: ['ROLE_LIMIT_REACHED'],
    example: { name: 'Counter staff', permissions: ['merchants.members:view', 'merchants.members:edit'] },
  }),
  deleteRole: endpoint('delete', `${all}/:id`, {
    tag,
    summary: 'Delete a role; keys and users lose its permissions within a second',
    description: 'A role with permissions that the caller does not hold is refused with 403.',
    access: 'users:edit',
    audit: { action: 'role.delete', writes: ['roles'] },
    result: z.object({ id: z.string(), deleted: z.literal(true) }),
    errors: ['UNKNOWN_ROLE'],
  }),
};
