// Roles of a merchant. A caller cannot create or delete a role with a permission that it does not hold.
import { createRole, deleteRole, listRoles } from '../../activities/access/roles.js';
import type { RoleRow } from '../../schemas/collections.js';
import type { roleEndpoints } from '../../schemas/endpoints/roles.js';
import { checkGrantOf, requireHeld } from '../caller.js';
import { pageOfRows } from '../reads/readPage.js';
import type { Routes } from '../request.js';

const presentRole = ({ _id: id, name, permissions, merchantId }: RoleRow) => ({
  id,
  name,
  permissions,
  builtIn: merchantId === null,
});

export const roleRoutes: Routes<keyof typeof roleEndpoints> = {
  async listRoles({ deps, caller, query }) {
    return { data: pageOfRows((await listRoles(deps, caller)).map(presentRole), query) };
  },

  async createRole({ deps, caller, body }) {
    requireHeld(caller, body.permissions);
    return { data: presentRole(await createRole(deps, { merchantId: caller.merchantId, ...body })) };
  },

  async deleteRole({ deps, caller, params }) {
    const id = params.id ?? '';
    await deleteRole(deps, {
      merchantId: caller.merchantId,
      id,
      checkGrant: checkGrantOf(caller),
    });
    return { data: { id, deleted: true } };
  },
};
