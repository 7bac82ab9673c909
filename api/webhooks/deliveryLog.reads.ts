// Pages of the delivery log, newest first.

import type { Deps } from '../../platform/deps.js';
import { findByIds } from '../../platform/mongodb/findByIds.js';
import type { QueryOf } from '../../schemas/access/endpoint.schema.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import type { Endpoints } from '../../schemas/tables/endpoints.js';
import type { DeliveryRow } from '../../schemas/webhooks/webhooks.rows.js';
import { newestPage } from '../http/newestPage.reads.js';
import { readPage } from '../http/page.reads.js';

export interface ListDeliveries extends QueryOf<Endpoints['listDeliveries']> {
  merchantId: string;
}

export interface DeliveryPage {
  items: { delivery: DeliveryRow; event: EventRow | undefined }[];
  total: number;
}

/** The narrowest field first: the embedded engine reads by the first one that has an index. */
function filterOf(filter: Omit<ListDeliveries, 'page' | 'pageSize'>) {
  const { merchantId, subscriptionId, eventType, success, eventId, memberId, since, until } = filter;
  return {
    ...(eventId !== undefined && { eventId }),
    ...(memberId !== undefined && { memberId }),
    merchantId,
    ...(subscriptionId !== undefined && { subscriptionId }),
    ...(eventType !== undefined && { eventType }),
    ...(success !== undefined && { success }),
    ...((since || until) && { createdAt: { ...(since && { $gte: since }), ...(until && { $lt: until }) } }),
  };
}

export async function listDeliveries(deps: Deps, { page, pageSize, ...filter }: ListDeliveries): Promise<DeliveryPage> {
  const where = filterOf(filter);
  const { items: deliveries, total } = await readPage(deps, {
    page,
    pageSize,
    read: (skip) => newestPage(deps, deps.collections.deliveries, { where, skip, pageSize }),
    count: () => deps.countRows(deps.collections.deliveries, where),
  });
  const ids = deliveries.map((delivery) => delivery.eventId);
  const events = await findByIds(deps, 'events', { ids, merchantId: filter.merchantId });
  const byId = new Map(events.map((event) => [event._id, event]));
  return { items: deliveries.map((delivery) => ({ delivery, event: byId.get(delivery.eventId) })), total };
}
