// Deliveries that end without an attempt.

import type { EventRow } from '../../schemas/events/events.rows.js';
import type { DeliveryRow, SubscriptionRow } from '../../schemas/webhooks/webhooks.rows.js';
import type { DeliveryState } from '../../schemas/webhooks/webhooks.schema.js';
import { LeaseLost } from '../events/leaseRenewal.writes.js';
import type { WorkerDeps } from '../workerDeps.js';
import { asRead, outOfQueue } from './deliveryQueue.writes.js';

interface Ending {
  state: 'exhausted' | 'skipped';
  error: 'deleted' | 'erased' | 'disabled';
}

/** What is to be sent and where to, or how a delivery ends for which one of these is missing. */
export function deliverable(
  subscription: SubscriptionRow | null,
  event: EventRow | null | undefined,
): { subscription: SubscriptionRow; event: EventRow } | { ending: Ending } {
  if (!subscription || !event) return { ending: { state: 'exhausted', error: 'deleted' } };
  if (event.erasedAt) return { ending: { state: 'exhausted', error: 'erased' } };
  if (!subscription.enabled) return { ending: { state: 'skipped', error: 'disabled' } };
  return { subscription, event };
}

/** Returns the state in which the delivery ended. Throws LeaseLost when another attempt has taken over. */
export async function closeDelivery(
  deps: WorkerDeps,
  delivery: Pick<DeliveryRow, '_id' | 'state' | 'fence'>,
  ending: Ending,
): Promise<{ state: DeliveryState }> {
  const { deliveries } = deps.collections;
  const change = { $set: { ...ending, nextAttemptAt: null }, ...outOfQueue };
  const { matchedCount } = await deliveries.updateOne(asRead(delivery), change);
  if (matchedCount === 1) return { state: ending.state };
  const found = await deliveries.findOne({ _id: delivery._id }, { projection: { state: 1 } });
  if (found?.state === 'succeeded') return { state: 'succeeded' };
  throw new LeaseLost('Another attempt of this delivery took over.');
}
