// Roles of a merchant. A caller cannot create or delete a role with a permission that it does not hold.
import { createRole, deleteRole, listRoles } from '../../activities/access/roles.writes.js';
import type { RoleRow } from '../../schemas/access/access.rows.js';
import type { roleEndpoints } from '../../schemas/access/roles.routes.js';
import { role } from '../../schemas/access/roles.schema.js';
import { shown } from '../../schemas/shared/answers.js';
import { checkGrantOf, requireHeld } from '../http/caller.reads.js';
import { pageOfRows } from '../http/page.reads.js';
import type { Routes } from '../http/request.js';

const presentRole = (row: RoleRow) => shown(role, row, { builtIn: row.merchantId === null });

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
