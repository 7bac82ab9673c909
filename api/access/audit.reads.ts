// Pages of the audit, newest first.
import type { Deps } from '../../platform/deps.js';
import type { AuditRow } from '../../schemas/access/access.rows.js';
import type { QueryOf } from '../../schemas/access/endpoint.schema.js';
import { lowerUuid } from '../../schemas/shared/ids.js';
import type { Endpoints } from '../../schemas/tables/endpoints.js';
import { newestPage } from '../http/newestPage.reads.js';
import { readPage } from '../http/page.reads.js';

export interface ListAudit extends QueryOf<Endpoints['readAudit']> {
  merchantId: string;
}

export function listAudit(
  deps: Deps,
  { merchantId, page, pageSize, actor, action, targetId, since }: ListAudit,
): Promise<{ items: AuditRow[]; total: number }> {
  const where = {
    merchantId,
    ...(targetId !== undefined && { targetId }),
    // The ids of another console's users are stored as they come, in capitals too.
    ...(actor !== undefined && { 'actor.id': { $in: [...new Set([actor, lowerUuid(actor)])] } }),
    ...(action !== undefined && { action }),
    ...(since && { createdAt: { $gte: since } }),
  };
  return readPage(deps, {
    page,
    pageSize,
    read: (skip) => newestPage(deps, deps.collections.audit, { where, skip, pageSize }),
    count: () => deps.countRows(deps.collections.audit, where),
  });
}
