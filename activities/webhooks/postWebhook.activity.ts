// Makes one attempt of a delivery that has its own workflow: a retry, a replay or a test. Operators read the error of
// this activity in Temporal. Only failures of the receiver use up the subscription's attempts; an attempt that was cut
// short by a killed worker or an unavailable database is repeated at once.
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { Filter } from 'mongodb';
import { Withdrawn } from '../../platform/fairLimit.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import type { DeliveryRow, SubscriptionRow } from '../../schemas/webhooks/webhooks.rows.js';
import type { DeliveryState } from '../../schemas/webhooks/webhooks.schema.js';
import { requireActiveMerchant } from '../access/suspended.reads.js';
import { type CheckLease, LeaseLost } from '../events/leaseRenewal.writes.js';
import { newFence } from '../events/leases.writes.js';
import { nonRetryable } from '../shared/nonRetryable.rules.js';
import type { WorkerDeps } from '../workerDeps.js';
import { closeDelivery, deliverable } from './closeDelivery.writes.js';
import { type Attempted, attemptDelivery } from './deliver.effect.js';
import { slotRequestOf } from './deliveryLimits.effect.js';
import { asRead, leftToWorkflow, outOfQueue } from './deliveryQueue.writes.js';

export interface PostWebhook {
  deliveryId: string;
  /** How many attempts this workflow may make; those that did not count are not among them. */
  attemptsLeft: number;
  /** How many attempts of the retry policy were made before the workflow. */
  attemptsMade?: number;
  /**
   * The workflow run and the number of this activity attempt. When a newer activity attempt of the run has begun, an
   * older one does nothing.
   */
  activityAttempt: { runId: string; attempt: number };
  /** The delivery's number of attempts when the workflow began; undefined in the first call of this activity. */
  attemptsAtStart: number | undefined;
  /** Keeps `attemptsAtStart` for the next attempts of this activity. */
  saveAttemptsAtStart: (attempts: number) => void;
  signal?: AbortSignal;
}

/**
 * How long an attempt waits for a slot. Then it leaves its place on the task queue to the attempts of other merchants,
 * and Temporal schedules it again.
 */
const maxRetrySlotWaitMs = 60_000;

const noSlot = (): ApplicationFailure =>
  ApplicationFailure.create({
    message: 'All slots of this receiver or merchant are taken; the attempt waits for its next turn.',
    type: 'NO_SLOT',
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: 1_000,
  });

/**
 * Returns the final state of the delivery. Throws ApplicationFailure, which is retryable while attempts are left, and
 * LeaseLost when another attempt took over.
 */
export async function postWebhook(
  deps: WorkerDeps,
  {
    deliveryId,
    attemptsLeft,
    attemptsMade,
    activityAttempt,
    attemptsAtStart,
    saveAttemptsAtStart,
    signal,
  }: PostWebhook,
): Promise<{ state: DeliveryState }> {
  const { deliveries } = deps.collections;
  const known = await deliveries.findOne({ _id: deliveryId }, { projection: { merchantId: 1 } });
  if (!known) {
    throw nonRetryable(
      new ServiceError(
        'DELIVERY_NOT_FOUND',
        undefined,
        'The delivery is no longer in the log: it was kept its 30 days.',
      ),
    );
  }
  const fence = newFence();
  const takeOver = (from: Filter<DeliveryRow>) =>
    deliveries.findOneAndUpdate(
      { _id: deliveryId, ...from },
      { $set: { fence, activityAttempt, ...leftToWorkflow(deps, known) } },
      { returnDocument: 'after' },
    );
  const { runId, attempt } = activityAttempt;
  const delivery =
    (await takeOver({ 'activityAttempt.runId': { $ne: runId } })) ??
    (await takeOver({ 'activityAttempt.runId': runId, 'activityAttempt.attempt': { $lte: attempt } }));
  if (!delivery) throw new LeaseLost('A later attempt of this delivery took over.');
  if (delivery.state === 'succeeded') {
    await deliveries.updateOne(asRead(delivery), outOfQueue);
    return { state: 'succeeded' };
  }
  const begunWith = attemptsAtStart ?? delivery.attempts;
  saveAttemptsAtStart(begunWith);
  // The delivery waits without using up an attempt.
  await requireActiveMerchant(deps, delivery);
  const [storedSubscription, storedEvent] = await Promise.all([
    deps.collections.subscriptions.findOne({ _id: delivery.subscriptionId, merchantId: delivery.merchantId }),
    deps.collections.events.findOne({ _id: delivery.eventId, merchantId: delivery.merchantId }),
  ]);
  const found = deliverable(storedSubscription, storedEvent);
  if ('ending' in found) return closeDelivery(deps, delivery, found.ending);
  const { subscription, event } = found;

  const made = delivery.attempts + 1 - begunWith;
  const attempted = await attemptDelivery(deps, {
    delivery,
    event,
    subscription,
    attemptKind: 'retry',
    slot: slotRequestOf(subscription, 'retry', maxRetrySlotWaitMs),
    last: made >= attemptsLeft,
    // The policy may have changed since the workflow started, so its present `maxAttempts` says nothing about this.
    policyAttempt: (attemptsMade ?? begunWith) + made,
    checkLease: fenceCheck(deps, delivery),
    signal,
  }).catch((error: unknown) => {
    throw error instanceof Withdrawn ? noSlot() : error;
  });
  if (attempted.state === 'succeeded') return { state: 'succeeded' };
  throw failure(attempted, subscription);
}

/** The returned check throws LeaseLost once another attempt of the delivery has taken over. */
export function fenceCheck(deps: WorkerDeps, { _id, fence }: Pick<DeliveryRow, '_id' | 'fence'>): CheckLease {
  return async () => {
    const held = await deps.collections.deliveries.findOne({ _id, fence }, { projection: { _id: 1 } });
    if (!held) throw new LeaseLost('Another attempt of this delivery took over.');
  };
}

function failure({ state, error, statusCode, waitMs }: Attempted, subscription: SubscriptionRow): ApplicationFailure {
  const host = new URL(subscription.url).host;
  const what = statusCode === null ? `failed: ${error}` : `answered ${statusCode}`;
  return ApplicationFailure.create({
    message: `${host} ${what}. When the receiver is well again, reset this workflow to deliver.`,
    type: error ?? 'status',
    nonRetryable: state === 'exhausted',
    category: ApplicationFailureCategory.BENIGN,
    // Temporal would read a delay of 0 as "use the activity's retry policy". That policy is for failures that use up no
    // attempt.
    nextRetryDelay: Math.max(waitMs, 1),
  });
}
