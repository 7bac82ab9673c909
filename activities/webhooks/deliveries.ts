// The delivery log: reading it, and sending one of its lines again. A replay is a delivery of its own, with the original
// event, bytes and eventId.
import type { DeliveryRow, EventRow, SubscriptionRow } from '../../schemas/collections.js';
import { ServiceError } from '../../schemas/errors.js';
import { firstDeliveryId, newId } from '../../schemas/ids.js';
import type { Store } from '../deps.js';
import { findByIds } from '../findByIds.js';
import { newestPage } from '../newestPage.js';
import type { Starter } from '../starter.js';
import { newDelivery, retryLater } from './publishEvents.js';

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
  /** The total is not counted beyond this; pages are. */
  countUpTo?: number;
}

export async function listDeliveries(
  store: Store,
  { page, pageSize, countUpTo = 100_000, ...filter }: ListDeliveries,
): Promise<DeliveryPage> {
  const where = filterOf(filter);
  const [deliveries, total] = await Promise.all([
    newestPage(store, store.rows.deliveries, { where, page, pageSize }),
    store.rows.deliveries.countDocuments(where, { limit: countUpTo }),
  ]);
  const ids = deliveries.map((delivery) => delivery.eventId);
  const events = await findByIds(store.rows.events, { ids, merchantId: filter.merchantId });
  const byId = new Map(events.map((event) => [event._id, event]));
  return { items: deliveries.map((delivery) => ({ delivery, event: byId.get(delivery.eventId) })), total };
}

type Deps = Store & { starter: Starter };

/**
 * A delivery of its own for an event that was told before, carried by a workflow from its first attempt on. Throws UNAVAILABLE
 * when no workflow is to be had: nobody else would ever take it, so it is not left in the log.
 */
export async function deliverAgain(
  deps: Deps,
  { event, subscription, replayOf }: { event: EventRow; subscription: SubscriptionRow; replayOf?: string },
): Promise<void> {
  const id = newId();
  const delivery = {
    ...newDelivery(deps, { event, subscription, id }),
    ...(replayOf && { replayOf, root: firstDeliveryId(event._id, subscription._id) }),
  };
  await deps.rows.deliveries.insertOne(delivery);
  if (delivery.state === 'skipped') return;
  const { maxAttempts: attempts } = subscription.retryPolicy;
  try {
    await retryLater(deps, { delivery, subscription, waitMs: 0, attempts, suffix: id });
  } catch (error) {
    deps.log.warn({ err: error, deliveryId: id }, 'a delivery could not be queued');
    await deps.rows.deliveries.deleteOne({ _id: id, state: 'pending', attempts: 0 });
    throw new ServiceError('UNAVAILABLE');
  }
}

/** Throws DELIVERY_NOT_FOUND. */
export async function replayDelivery(
  deps: Deps,
  at: { merchantId: string; id: string },
): Promise<{ eventId: string; eventType: string }> {
  const delivery = await deps.rows.deliveries.findOne({ _id: at.id, merchantId: at.merchantId });
  if (!delivery) throw new ServiceError('DELIVERY_NOT_FOUND');
  const [event, subscription] = await Promise.all([
    deps.rows.events.findOne({ _id: delivery.eventId, merchantId: at.merchantId }),
    deps.rows.subscriptions.findOne({ _id: delivery.subscriptionId, merchantId: at.merchantId }),
  ]);
  if (!event?.envelope || !subscription) throw new ServiceError('DELIVERY_NOT_FOUND');
  await deliverAgain(deps, { event, subscription, replayOf: delivery._id });
  return { eventId: event._id, eventType: event.type };
}
