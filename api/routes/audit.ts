// The audit of a merchant. It is read-only.
import type { AuditRow } from '../../schemas/collections.js';
import type { auditEndpoints } from '../../schemas/endpoints/audit.js';
import { listAudit } from '../reads/audit.js';
import type { Routes } from '../request.js';

const presentAudit = ({ _id: id, createdAt, actor, action, targetId, fields, address, requestId }: AuditRow) => ({
  id,
  createdAt: createdAt.toISOString(),
  actor,
  action,
  targetId,
  ...(fields && { fields }),
  address,
  requestId,
});

export const auditRoutes: Routes<keyof typeof auditEndpoints> = {
  async readAudit({ deps, caller: { merchantId }, query }) {
    const { items, total } = await listAudit(deps, { merchantId, ...query });
    return { data: { items: items.map(presentAudit), page: query.page, pageSize: query.pageSize, total } };
  },
};
