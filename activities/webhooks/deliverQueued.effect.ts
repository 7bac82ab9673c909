// Delivers the delivery queue of one shard of merchants. Each subscription has its own loop, which takes as many
// deliveries as there are slots, or as the receiver can be expected to answer soon, longest due first. A delivery that
// fails gets a workflow for its retries.
import { setMaxListeners } from 'node:events';
import { Withdrawn } from '../../platform/fairLimit.js';
import { findByIds } from '../../platform/mongodb/findByIds.js';
import { updateByIds } from '../../platform/mongodb/updateMany.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import type { DeliveryRow, SubscriptionRow, WaitingSubscriptionRow } from '../../schemas/webhooks/webhooks.rows.js';
import { isUnfinished } from '../../schemas/webhooks/webhooks.schema.js';
import { suspensions } from '../access/merchants.reads.js';
import { newFence } from '../events/leases.writes.js';
import { maxLeaseAheadMs } from '../events/takeOverShard.writes.js';
import type { WorkerDeps } from '../workerDeps.js';
import { closeDelivery, deliverable } from './closeDelivery.writes.js';
import { deliver } from './deliver.effect.js';
import { slotRequestOf } from './deliveryLimits.effect.js';
import { attemptExpiry, maxSlotWaitMs, unfinished } from './deliveryQueue.writes.js';
import { fenceCheck } from './postWebhook.activity.js';

/** Number of deliveries that one query reads. */
const lookAhead = 2_000;
const pollMs = 1_000;
/**
 * After an attempt has ended, the loop waits this long for others, so that one query and one write serve several
 * deliveries.
 */
const coalesceMs = 100;
/** How many deliveries are taken at a time: more than there are slots while the receiver answers quickly. */
const maxTaken = 200;
/**
 * The number of attempts that a subscription keeps waiting while no slot is free, because otherwise retries would take
 * each slot that becomes free.
 */
const minRunning = 2;

/** The subscriptions of a shard. Shard 0 also has those of shards that no longer exist after RELAY_SHARDS was lowered. */
export const servedBy = ({ config }: Pick<WorkerDeps, 'config'>, shard: number) =>
  shard === 0 ? { $or: [{ shard }, { shard: { $gte: config.RELAY_SHARDS } }] } : { shard };

export interface DeliverQueued {
  shard: number;
  /** Called at each look with the number of subscriptions whose queue is not empty. */
  noteWaiting: (subscriptions: number) => void;
  /** No further deliveries are taken after this; attempts in flight continue in the background. */
  signal: AbortSignal;
}

/** Runs until `signal` is aborted. Never rejects. */
export async function deliverQueued(deps: WorkerDeps, { shard, noteWaiting, signal }: DeliverQueued): Promise<void> {
  setMaxListeners(0, signal);
  const loops = new Map<string, Promise<void>>();
  while (!signal.aborted) {
    const waiting = await deps.collections.waitingSubscriptions
      .find(servedBy(deps, shard))
      .toArray()
      .catch((error: unknown) => {
        deps.log.warn({ err: error, shard }, 'the delivery queue could not be read; trying again');
        return [];
      });
    for (const row of waiting) {
      if (loops.has(row._id)) continue;
      const loop = deliverSubscription(deps, { row, signal })
        .catch((error: unknown) => {
          deps.log.warn({ err: error, subscriptionId: row._id }, 'queued deliveries could not be taken; trying again');
        })
        .finally(() => loops.delete(row._id));
      loops.set(row._id, loop);
    }
    noteWaiting(loops.size);
    await deps.background.sleep(pollMs, { signal, wakes: true });
  }
  await Promise.all(loops.values());
}

/** Delivers the queue of one subscription until it is empty. */
async function deliverSubscription(
  deps: WorkerDeps,
  { row, signal }: { row: WaitingSubscriptionRow; signal: AbortSignal },
): Promise<void> {
  const { _id: subscriptionId, merchantId, marks } = row;
  const running = new Set<Promise<void>>();
  let due: string[] = [];
  let endedSinceTaken = 0;
  while (!signal.aborted) {
    if ((await suspensions(deps)).has(merchantId)) {
      await deps.background.sleep(pollMs, { signal });
      continue;
    }
    const room = Math.max(deps.deliveryLimits.room(merchantId, subscriptionId), minRunning - running.size);
    let waitMs = pollMs;
    if (room > 0) {
      if (due.length === 0) {
        const head = await readHead(deps, subscriptionId);
        if (head.queued === 0) {
          deps.background.noteBacklog(subscriptionId, false);
          await deps.collections.waitingSubscriptions.deleteOne({ _id: subscriptionId, marks });
          return;
        }
        due = head.due;
        waitMs = head.waitMs;
      }
      const taken = due.splice(0, Math.min(Math.max(room, 2 * endedSinceTaken), maxTaken));
      endedSinceTaken = 0;
      for (const attempt of taken.length > 0 ? await takeAndDeliver(deps, { row, ids: taken }) : []) {
        running.add(attempt);
        void attempt.finally(() => {
          running.delete(attempt);
          endedSinceTaken += 1;
        });
      }
    }
    deps.background.noteBacklog(subscriptionId, due.length > 0);
    if (running.size === 0 && due.length > 0 && room > 0) continue;
    await deps.background.sleep(waitMs, { signal, until: [...running] });
    if (running.size > 0) await deps.background.sleep(coalesceMs, { signal });
  }
}

/**
 * The longest due deliveries of the queue, how many were read, and how long to wait when none is due. A `dueAt` that is
 * too far ahead was written before the clock was set back.
 */
async function readHead(
  deps: WorkerDeps,
  dueGroup: string,
): Promise<{ queued: number; due: string[]; waitMs: number }> {
  const head = await deps.collections.deliveries
    .find({ dueGroup }, { projection: { dueAt: 1 } })
    .sort({ dueAt: 1 })
    .limit(lookAhead)
    .toArray();
  const now = deps.now().getTime();
  const waits = head.map(({ dueAt }) => (dueAt?.getTime() ?? now) - now);
  const isDue = (wait: number) => wait <= 0 || wait > maxLeaseAheadMs;
  return {
    queued: head.length,
    due: head.filter((_row, index) => isDue(waits[index] ?? 0)).map(({ _id }) => _id),
    waitMs: Math.min(pollMs, ...waits.filter((wait) => wait > 0)),
  };
}

/** Returns the deliveries in progress; they never reject. */
async function takeAndDeliver(
  deps: WorkerDeps,
  { row, ids }: { row: WaitingSubscriptionRow; ids: string[] },
): Promise<Promise<void>[]> {
  const { _id: subscriptionId, merchantId } = row;
  const subscription = await deps.collections.subscriptions.findOne({ _id: subscriptionId, merchantId });
  const fence = newFence();
  const now = deps.now();
  const dueAt = attemptExpiry(deps, subscription ?? { timeoutMs: 0 });
  const change = { $set: { fence, dueAt } };
  const take = (isDue: { $lte: Date } | { $gt: Date }) =>
    updateByIds(deps, 'deliveries', { ids, where: { dueGroup: subscriptionId, dueAt: isDue }, change });
  const tooFarAhead = new Date(now.getTime() + maxLeaseAheadMs);
  if ((await take({ $lte: now })) === 0) await take({ $gt: tooFarAhead });
  const taken = await deps.collections.deliveries.find({ _id: { $in: ids }, fence }).toArray();
  const eventIds = [...new Set(taken.map(({ eventId }) => eventId))];
  const events = await findByIds(deps, 'events', { ids: eventIds, merchantId });
  const byId = new Map(events.map((event) => [event._id, event]));
  return taken.map((delivery) => {
    const work = deliverOne(deps, { delivery, subscription, event: byId.get(delivery.eventId) }).catch(
      (error: unknown) => requeueTaken(deps, delivery, error),
    );
    deps.background.run(work);
    return work;
  });
}

interface Taken {
  delivery: DeliveryRow;
  subscription: SubscriptionRow | null;
  event: EventRow | undefined;
}

async function deliverOne(deps: WorkerDeps, { delivery, ...stored }: Taken): Promise<void> {
  if (!isUnfinished(delivery.state)) return;
  const found = deliverable(stored.subscription, stored.event);
  if ('ending' in found) {
    await closeDelivery(deps, delivery, found.ending);
    return;
  }
  await deliver(deps, {
    ...found,
    delivery,
    attemptKind: 'first',
    slot: slotRequestOf(found.subscription, 'first', maxSlotWaitMs),
    checkLease: fenceCheck(deps, delivery),
    signal: deps.background.signal,
  });
}

const retryMs = 5_000;

/** Makes a delivery due again whose attempt was cancelled, or failed for a reason other than the receiver. */
export async function requeueTaken(
  deps: WorkerDeps,
  { _id, fence }: Pick<DeliveryRow, '_id' | 'fence'>,
  error: unknown,
): Promise<void> {
  const isCalledOff = deps.background.signal.aborted || error instanceof Withdrawn;
  if (!isCalledOff) deps.log.warn({ err: error, deliveryId: _id }, 'a queued delivery could not be made; trying again');
  const dueAt = new Date(deps.now().getTime() + (isCalledOff ? 0 : retryMs));
  await deps.collections.deliveries
    .updateOne({ _id, fence, state: unfinished }, { $set: { dueAt } })
    .catch((failure: unknown) =>
      deps.log.debug({ err: failure, deliveryId: _id }, 'it waits until its attempt expires'),
    );
}
