// Pages of the delivery log, newest first.

import type { Deps } from '../../platform/deps.js';
import { findByIds } from '../../platform/mongodb/findByIds.js';
import type { DeliveryRow, EventRow } from '../../schemas/collections.js';
import { newestPage } from './newestPage.js';

export interface DeliveryFilter {
  merchantId: string;
  subscriptionId?: string | undefined;
  eventType?: string | undefined;
  success?: boolean | undefined;
}

export interface DeliveryPage {
  items: { delivery: DeliveryRow; event: EventRow | undefined }[];
  total: number;
}

function filterOf({ merchantId, subscriptionId, eventType, success }: DeliveryFilter) {
  return {
    merchantId,
    ...(subscriptionId !== undefined && { subscriptionId }),
    ...(eventType !== undefined && { eventType }),
    ...(success !== undefined && { success }),
  };
}

export interface ListDeliveries extends DeliveryFilter {
  page: number;
  pageSize: number;
  /** The total is counted only up to this number; pages beyond it can still be read. */
  countUpTo?: number;
}

export async function listDeliveries(
  deps: Deps,
  { page, pageSize, countUpTo = 100_000, ...filter }: ListDeliveries,
): Promise<DeliveryPage> {
  const where = filterOf(filter);
  const [deliveries, total] = await Promise.all([
    newestPage(deps, deps.collections.deliveries, { where, page, pageSize }),
    // A count costs the embedded engine 2 microseconds for each delivery of the merchant.
    deps.coalesce(`deliveries ${countUpTo} ${JSON.stringify(where)}`, () =>
      deps.collections.deliveries.countDocuments(where, { limit: countUpTo }),
    ),
  ]);
  const ids = deliveries.map((delivery) => delivery.eventId);
  const events = await findByIds(deps.collections.events, { ids, merchantId: filter.merchantId });
  const byId = new Map(events.map((event) => [event._id, event]));
  return { items: deliveries.map((delivery) => ({ delivery, event: byId.get(delivery.eventId) })), total };
}
