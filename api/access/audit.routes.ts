// The audit of a merchant. It is read-only.

import type { auditEndpoints } from '../../schemas/access/audit.routes.js';
import { auditItem } from '../../schemas/access/audit.schema.js';
import { shown } from '../../schemas/shared/answers.js';
import type { Routes } from '../http/request.js';
import { listAudit } from './audit.reads.js';
import { targetNames } from './targetNames.reads.js';

export const auditRoutes: Routes<keyof typeof auditEndpoints> = {
  async readAudit({ deps, caller: { merchantId, permissions }, query }) {
    const { items: rows, total } = await listAudit(deps, { merchantId, ...query });
    const names = await targetNames(deps, { merchantId, permissions, rows });
    const items = rows.map((row) => shown(auditItem, row, { targetName: names.get(row.targetId) }));
    return { data: { items, page: query.page, pageSize: query.pageSize, total } };
  },
};
