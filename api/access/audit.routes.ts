// The audit of a merchant. It is read-only.

import type { AuditRow } from '../../schemas/access/access.rows.js';
import type { auditEndpoints } from '../../schemas/access/audit.routes.js';
import type { Routes } from '../http/request.js';
import { listAudit } from './audit.reads.js';
import { targetNames } from './targetNames.reads.js';

const presentAudit = (
  { _id: id, createdAt, actor, action, targetId, fields, address, requestId }: AuditRow,
  targetName: string | undefined,
) => ({
  id,
  createdAt: createdAt.toISOString(),
  actor,
  action,
  targetId,
  ...(targetName !== undefined && { targetName }),
  ...(fields && { fields }),
  address,
  requestId,
});

export const auditRoutes: Routes<keyof typeof auditEndpoints> = {
  async readAudit({ deps, caller: { merchantId, permissions }, query }) {
    const { items, total } = await listAudit(deps, { merchantId, ...query });
    const names = await targetNames(deps, { merchantId, permissions, rows: items });
    const shown = items.map((row) => presentAudit(row, names.get(row.targetId)));
    return { data: { items: shown, page: query.page, pageSize: query.pageSize, total } };
  },
};
