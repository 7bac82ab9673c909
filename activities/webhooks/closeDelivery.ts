// Deliveries that end without an attempt.
import type { DeliveryRow, EventRow, SubscriptionRow } from '../../schemas/collections.js';
import type { DeliveryState } from '../../schemas/webhooks.js';
import type { WorkerDeps } from '../workerDeps.js';
import { outOfQueue } from './deliveryQueue.js';

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

export async function closeDelivery(
  deps: WorkerDeps,
  { _id }: Pick<DeliveryRow, '_id'>,
  ending: Ending,
): Promise<{ state: DeliveryState }> {
  await deps.collections.deliveries.updateOne({ _id }, { $set: { ...ending, nextAttemptAt: null }, ...outOfQueue });
  return { state: ending.state };
}
