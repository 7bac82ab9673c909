// The queue of deliveries that publishing does not wait for: their receiver is slow or fails, or there is no slot for
// them (docs/decisions/040-publishing-does-not-wait-for-receivers.md). A delivery is in the queue while its row has
// `queuedFor` and `dueAt`. Whoever attempts it moves `dueAt` ahead by more than the attempt may take, so a delivery of a
// process that died is due again after that. A row in `waitingSubscriptions` says whose queue has deliveries. A delivery
// whose attempts a workflow makes is in the queue `workflow`; when it is due there, its workflow counts as lost
// (reviveDeliveries.ts). So every unfinished delivery in the log is in one queue.
import type { Deps } from '../../platform/deps.js';
import { insertMissing } from '../../platform/mongodb/insertMissing.js';
import { update } from '../../platform/mongodb/statements.js';
import { writeBulk } from '../../platform/mongodb/transact.js';
import type { Statement } from '../../platform/mongodb/transaction.js';
import type { DeliveryRow, SubscriptionRow } from '../../schemas/collections.js';
import { shardOf } from '../../schemas/events.js';
import { workflowLostAt } from '../outbox/workflowLostAt.js';
import type { Background } from './background.js';

type QueueDeps = Deps & { background: Background };

/** How long an attempt of the queue waits for a slot. */
export const maxSlotWaitMs = 10_000;
/** How long a write to the delivery log that fails is repeated. */
export const maxLogMs = 10_000;
/** For the connection and for the start of a retry's workflow. */
const marginMs = 10_000;

/** When a delivery is due again that a process begins to attempt now. */
export const attemptExpiry = (deps: Deps, { timeoutMs }: Pick<SubscriptionRow, 'timeoutMs'>): Date =>
  new Date(deps.now().getTime() + maxSlotWaitMs + timeoutMs + maxLogMs + marginMs);

/** The states of a delivery that has not ended, as a filter. */
export const unfinished = { $in: ['pending' as const, 'retrying' as const] };

/** The queue of the deliveries whose attempts a workflow makes. */
export const workflowQueue = 'workflow';

/** The fields of a delivery whose next attempt a workflow makes at that time, by default now. */
export const leftToWorkflow = (
  deps: Pick<Deps, 'config' | 'now'>,
  nextAttemptAt?: Date,
): Pick<Required<DeliveryRow>, 'queuedFor' | 'dueAt'> => ({
  queuedFor: workflowQueue,
  dueAt: workflowLostAt(deps, nextAttemptAt),
});

/** The part of an update that takes a delivery out of the queue. */
export const outOfQueue = { $unset: { queuedFor: '', dueAt: '' } } as const;

/** How a delivery ends whose member was erased before it was made. */
export const erasedDelivery = { state: 'exhausted', error: 'erased' } as const;

export interface Queued {
  delivery: DeliveryRow;
  dueAt: Date;
}

/**
 * Puts deliveries into the queue of their subscriptions, and their rows into the log where it has none yet. Deliveries
 * that have ended are left as they are. A second call changes at most `dueAt`.
 */
export async function enqueue(deps: QueueDeps, queued: readonly Queued[]): Promise<void> {
  if (queued.length === 0) return;
  const rows = queued.map(({ delivery, dueAt }) => ({ ...delivery, queuedFor: delivery.subscriptionId, dueAt }));
  const known = new Set(await insertMissing(deps.collections.deliveries, rows));
  await writeBulk(
    deps,
    rows
      .filter(({ _id }) => known.has(_id))
      .map(({ _id, queuedFor, dueAt }) =>
        update(deps, 'deliveries', { _id, state: unfinished }, { $set: { queuedFor, dueAt } }),
      ),
  );
  await markWaiting(deps, rows);
}

/**
 * Says that these subscriptions have deliveries in the queue. Called after the deliveries were written: the mark is
 * removed only by a reader who has seen no delivery since the same number of `marks`.
 */
export async function markWaiting(
  deps: QueueDeps,
  deliveries: readonly Pick<DeliveryRow, 'subscriptionId' | 'merchantId'>[],
): Promise<void> {
  if (deliveries.length === 0) return;
  await writeBulk(deps, markStatements(deps, deliveries));
  deps.background.wake();
}

export function markStatements(
  deps: Deps,
  deliveries: readonly Pick<DeliveryRow, 'subscriptionId' | 'merchantId'>[],
): Statement[] {
  const subscriptions = new Map(deliveries.map(({ subscriptionId, merchantId }) => [subscriptionId, merchantId]));
  return Array.from(subscriptions, ([_id, merchantId]) => {
    const shard = shardOf(merchantId, deps.config.RELAY_SHARDS);
    return update(deps, 'waitingSubscriptions', { _id }, { $set: { merchantId, shard }, $inc: { marks: 1 } }, true);
  });
}
