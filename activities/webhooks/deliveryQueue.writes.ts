// The queue of deliveries that publishing does not wait for, because their receiver is slow or fails, or because no
// slot is free (docs/decisions/events-are-leased.md). Every unfinished delivery has a
// `dueGroup` and a `dueAt`, so each becomes due at some time, also when the process that worked on it died:
// - In the queue, `dueGroup` is the id of its subscription. Before an attempt, `dueAt` is set to the latest time at
//   which the attempt can end, so a delivery whose attempt died with its process is due again. A row in
//   `waitingSubscriptions` marks a subscription whose queue has deliveries.
// - While a workflow makes its attempts, `dueGroup` is `own-workflow:<merchantId>`. When such a delivery is due, its
//   workflow counts as lost (reviveDeliveries.activity.ts).
import type { Deps } from '../../platform/deps.js';
import { insertMissing } from '../../platform/mongodb/insertMissing.js';
import { update } from '../../platform/mongodb/statements.js';
import { writeBulk } from '../../platform/mongodb/transact.js';
import { shardOf } from '../../schemas/events/events.schema.js';
import type { DeliveryRow, SubscriptionRow } from '../../schemas/webhooks/webhooks.rows.js';
import { unfinishedStates } from '../../schemas/webhooks/webhooks.schema.js';
import { workflowLostAt } from '../events/workflowLostAt.rules.js';
import type { Background } from './background.effect.js';

type QueueDeps = Deps & { background: Background };

/** How long an attempt of the queue waits for a slot. */
export const maxSlotWaitMs = 10_000;
/** For how long a failed write to the delivery log is repeated. */
export const maxLogMs = 10_000;
/** A margin for the connection and for the start of a retry's workflow. */
const marginMs = 10_000;

/** When a delivery that a process begins to attempt now is due again. */
export const attemptExpiry = (deps: Deps, { timeoutMs }: Pick<SubscriptionRow, 'timeoutMs'>): Date =>
  new Date(deps.now().getTime() + maxSlotWaitMs + timeoutMs + maxLogMs + marginMs);

/** The filter that matches a delivery only while it is in the state, and in the hands, in which it was read. */
export const asRead = ({ _id, state, fence }: Pick<DeliveryRow, '_id' | 'state' | 'fence'>) => ({ _id, state, fence });

/** A filter for deliveries that have not ended. */
export const unfinished = { $in: unfinishedStates };

/**
 * The beginning of `dueGroup` for a delivery with a workflow. Its merchant follows, so that merchants can take turns.
 */
export const ownWorkflow = 'own-workflow';

/** The fields of a delivery whose next attempt a workflow makes at that time (default: now). */
export const leftToWorkflow = (
  deps: Pick<Deps, 'config' | 'now'>,
  { merchantId }: Pick<DeliveryRow, 'merchantId'>,
  nextAttemptAt?: Date,
): Pick<Required<DeliveryRow>, 'dueGroup' | 'dueAt'> => ({
  dueGroup: `${ownWorkflow}:${merchantId}`,
  dueAt: workflowLostAt(deps, nextAttemptAt),
});

/** The part of an update that takes a delivery out of the queue. */
export const outOfQueue = { $unset: { dueGroup: '', dueAt: '' } } as const;

export interface Queued {
  delivery: DeliveryRow;
  dueAt: Date;
}

/**
 * Puts deliveries that the log does not have yet into the queue of their subscriptions. One that the log has is in the
 * queue already, has a workflow or has ended.
 */
export async function enqueue(deps: QueueDeps, queued: readonly Queued[]): Promise<void> {
  if (queued.length === 0) return;
  const rows = queued.map(({ delivery, dueAt }) => ({ ...delivery, dueGroup: delivery.subscriptionId, dueAt }));
  await insertMissing(deps.collections.deliveries, rows);
  await markWaiting(deps, rows);
}

/**
 * Marks that these subscriptions have deliveries in the queue. Called after the deliveries were written: a reader
 * removes the mark only if it saw no delivery and `marks` has not changed since.
 */
export async function markWaiting(
  deps: QueueDeps,
  deliveries: readonly Pick<DeliveryRow, 'subscriptionId' | 'merchantId'>[],
): Promise<void> {
  if (deliveries.length === 0) return;
  const subscriptions = new Map(deliveries.map(({ subscriptionId, merchantId }) => [subscriptionId, merchantId]));
  const marks = Array.from(subscriptions, ([_id, merchantId]) => {
    const shard = shardOf(merchantId, deps.config.RELAY_SHARDS);
    return update(deps, 'waitingSubscriptions', { _id }, { $set: { merchantId, shard }, $inc: { marks: 1 } }, true);
  });
  await writeBulk(deps, marks);
  deps.background.wake();
}
