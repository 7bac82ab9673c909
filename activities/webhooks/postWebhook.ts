// A retry, a replay or a test: one attempt of a delivery that has a workflow of its own. Its failure is the failure that
// operators read in Temporal. Only the receiver's own failures use up the subscription's attempts: what a dying worker or an
// absent database cut short is tried again at once.
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { Filter } from 'mongodb';
import type { DeliveryRow, SubscriptionRow } from '../../schemas/collections.js';
import type { DeliveryState } from '../../schemas/webhooks.js';
import { believing, type Confirm, LeaseLost, newFence } from '../claimEvents.js';
import type { WorkerDeps } from '../workerDeps.js';
import { type Attempted, attemptDelivery } from './attemptDelivery.js';

export interface PostWebhook {
  deliveryId: string;
  /** How many attempts this workflow may log. */
  attempts: number;
  /** Whose attempt this is: one that stood still and comes after a later one of its run has nothing to do any more. */
  carrier: { run: string; attempt: number };
  /** What the log held when the workflow began; undefined before its first attempt. */
  before: number | undefined;
  /** Keeps `before` for the attempts after this one. */
  remember: (before: number) => void;
  signal?: AbortSignal;
}

const over = (message: string): ApplicationFailure =>
  ApplicationFailure.create({ message, type: 'DELIVERY_NOT_FOUND', nonRetryable: true });

/** Answers the state the delivery came to rest in. Throws ApplicationFailure, retryable while attempts are left. */
export async function postWebhook(
  deps: WorkerDeps,
  { deliveryId, attempts, carrier, before, remember, signal }: PostWebhook,
): Promise<{ state: DeliveryState }> {
  const claimedAt = performance.now();
  const fence = newFence();
  const take = (carried: Filter<DeliveryRow>) =>
    deps.rows.deliveries.findOneAndUpdate(
      { _id: deliveryId, ...carried },
      { $set: { fence, carrier } },
      { returnDocument: 'after' },
    );
  const delivery =
    (await take({ 'carrier.run': { $ne: carrier.run } })) ??
    (await take({ 'carrier.run': carrier.run, 'carrier.attempt': { $lte: carrier.attempt } }));
  if (!delivery) {
    const known = await deps.rows.deliveries.findOne({ _id: deliveryId }, { projection: { _id: 1 } });
    if (known) throw new LeaseLost('A later attempt of this delivery took over.');
    throw over('The delivery is no longer in the log: it was kept its 30 days.');
  }
  if (delivery.state === 'succeeded') return { state: 'succeeded' };
  const begunWith = before ?? delivery.attempts;
  remember(begunWith);
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
    last: delivery.attempts + 1 - begunWith >= attempts,
    confirm: fenceOf(deps, { deliveryId, fence, claimedAt }),
    ...(signal && { signal }),
  });
  if (attempted.state === 'succeeded') return { state: 'succeeded' };
  throw failure(attempted, subscription);
}

/** Lost once another attempt of the delivery has taken over. */
export function fenceOf(
  deps: WorkerDeps,
  { deliveryId, fence, claimedAt }: { deliveryId: string; fence: string; claimedAt: number },
): Confirm {
  const ask = async (): Promise<void> => {
    const held = await deps.rows.deliveries.findOne({ _id: deliveryId, fence }, { projection: { _id: 1 } });
    if (!held) throw new LeaseLost('Another attempt of this delivery took over.');
  };
  return believing(ask, { askedAt: claimedAt });
}

async function settle(
  deps: WorkerDeps,
  delivery: DeliveryRow,
  set: { state: 'exhausted' | 'skipped'; error: string },
): Promise<{ state: DeliveryState }> {
  await deps.rows.deliveries.updateOne({ _id: delivery._id }, { $set: { ...set, nextAttemptAt: null } });
  return { state: set.state };
}

function failure({ state, error, statusCode, waitMs }: Attempted, subscription: SubscriptionRow): ApplicationFailure {
  const host = new URL(subscription.url).host;
  const what = statusCode === null ? `failed: ${error}` : `answered ${statusCode}`;
  return ApplicationFailure.create({
    message: `${host} ${what}. When the receiver is well again, reset this workflow to deliver.`,
    type: error ?? 'status',
    nonRetryable: state === 'exhausted',
    category: ApplicationFailureCategory.BENIGN,
    // A delay of 0 would mean the workflow's own, which is for what does not count.
    nextRetryDelay: Math.max(waitMs, 1),
  });
}
