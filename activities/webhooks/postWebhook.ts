// A retry, a replay or a test: one attempt of a delivery that has a workflow of its own. Its failure is the failure that
// operators read in Temporal, and the retry policy of that workflow is the subscription's.
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { DeliveryRow, SubscriptionRow } from '../../schemas/collections.js';
import type { DeliveryState } from '../../schemas/webhooks.js';
import type { WorkerDeps } from '../workerDeps.js';
import { type Attempted, attemptDelivery } from './attemptDelivery.js';

export interface PostWebhook {
  deliveryId: string;
  /** True when the workflow makes no further attempt after this one. */
  last: boolean;
  signal?: AbortSignal;
}

const over = (message: string): ApplicationFailure =>
  ApplicationFailure.create({ message, type: 'DELIVERY_NOT_FOUND', nonRetryable: true });

/** Answers the state the delivery came to rest in. Throws ApplicationFailure, retryable while attempts are left. */
export async function postWebhook(
  deps: WorkerDeps,
  { deliveryId, last, signal }: PostWebhook,
): Promise<{ state: DeliveryState }> {
  const delivery = await deps.rows.deliveries.findOne({ _id: deliveryId });
  if (!delivery) throw over('The delivery is no longer in the log: it was kept its 30 days.');
  if (delivery.state === 'succeeded') return { state: 'succeeded' };
  const [subscription, event] = await Promise.all([
    deps.rows.subscriptions.findOne({ _id: delivery.subscriptionId, merchantId: delivery.merchantId }),
    deps.rows.events.findOne({ _id: delivery.eventId, merchantId: delivery.merchantId }),
  ]);
  if (!subscription) return settle(deps, delivery, { state: 'exhausted', error: 'deleted' });
  if (!subscription.enabled) return settle(deps, delivery, { state: 'skipped', error: 'disabled' });
  if (!event) throw over('The event is no longer in the archive: it was kept its 90 days.');

  const attempted = await attemptDelivery(deps, {
    delivery,
    event,
    subscription,
    turn: 'retry',
    last,
    ...(signal && { signal }),
  });
  if (attempted.state === 'succeeded') return { state: 'succeeded' };
  throw failure(attempted, subscription);
}

async function settle(
  deps: WorkerDeps,
  delivery: DeliveryRow,
  set: { state: 'exhausted' | 'skipped'; error: string },
): Promise<{ state: DeliveryState }> {
  await deps.rows.deliveries.updateOne({ _id: delivery._id }, { $set: { ...set, nextAttemptAt: null } });
  return { state: set.state };
}

function failure({ error, statusCode, waitMs }: Attempted, subscription: SubscriptionRow): ApplicationFailure {
  const host = new URL(subscription.url).host;
  const what = statusCode === null ? `failed: ${error}` : `answered ${statusCode}`;
  return ApplicationFailure.create({
    message: `${host} ${what}. When the receiver is well again, reset this workflow to deliver.`,
    type: error ?? 'status',
    nonRetryable: error === 'gone',
    category: ApplicationFailureCategory.BENIGN,
    ...(waitMs > 0 && { nextRetryDelay: waitMs }),
  });
}
