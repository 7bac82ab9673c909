// Sends a merchant's events of a period to one subscription again, with their original eventIds and bytes, at a limited
// rate, while first attempts of new events continue. Each event has one delivery of the replay, whose id is derived
// from both, so a repeated chunk repeats only the attempts that were not logged.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Filter } from 'mongodb';
import { findByIds } from '../../platform/mongodb/findByIds.js';
import { insertMissing } from '../../platform/mongodb/insertMissing.js';
import { readInOrder } from '../../platform/mongodb/readInOrder.js';
import { updateByIds } from '../../platform/mongodb/updateMany.js';
import type { BatchRow, BatchTargetsRow, Position } from '../../schemas/batches/batches.rows.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { derivedId, firstDeliveryId } from '../../schemas/shared/ids.js';
import type { ChunkProgress, ListProgress } from '../../schemas/tables/workflows.js';
import type { DeliveryRow, SubscriptionRow } from '../../schemas/webhooks/webhooks.rows.js';
import { isUnfinished } from '../../schemas/webhooks/webhooks.schema.js';
import { suspensions } from '../access/merchants.reads.js';
import { newFence } from '../events/leases.writes.js';
import { workflowLostAt } from '../events/workflowLostAt.rules.js';
import { nonRetryable } from '../shared/nonRetryable.rules.js';
import { deliver } from '../webhooks/deliver.effect.js';
import { leftToWorkflow, unfinished } from '../webhooks/deliveryQueue.writes.js';
import { newDelivery } from '../webhooks/newDelivery.rules.js';
import { isSubscribed } from '../webhooks/openDeliveries.writes.js';
import { fenceCheck } from '../webhooks/postWebhook.activity.js';
import { startDeliveryWorkflow } from '../webhooks/startDeliveryWorkflow.effect.js';
import type { WorkerDeps } from '../workerDeps.js';
import { type RunChunksInput, runChunks } from './runChunks.effect.js';
import {
  countTargets,
  type ListTargets,
  listTargets,
  type Outcomes,
  type Page,
  readTargets,
} from './targets.writes.js';

const chunkSize = 50;
/** Sorts after every id of an event. */
const lastId = '\uffff';

/** Throws ApplicationFailure WEBHOOK_NOT_FOUND when the subscription was deleted or disabled; the replay then ends. */
async function subscriptionOf(
  deps: WorkerDeps,
  { merchantId, subscriptionId = '' }: BatchRow,
): Promise<SubscriptionRow> {
  const subscription = await deps.collections.subscriptions.findOne({ _id: subscriptionId, merchantId });
  const why = subscription ? 'The subscription is disabled.' : 'The subscription was deleted.';
  if (!subscription?.enabled) throw nonRetryable(new ServiceError('WEBHOOK_NOT_FOUND', undefined, why));
  return subscription;
}

/**
 * Returns the events whose latest delivery, replays included, is exhausted or skipped, or hangs. Events that were
 * delivered since and events with a delivery in progress are left out.
 */
async function findFailed(deps: WorkerDeps, eventIds: string[], subscription: SubscriptionRow): Promise<Set<string>> {
  const roots = eventIds.map((eventId) => firstDeliveryId(eventId, subscription._id));
  const read = (where: Filter<DeliveryRow>) =>
    deps.collections.deliveries.find(where, { projection: { history: 0 } }).toArray();
  const rows = (await Promise.all([read({ _id: { $in: roots } }), read({ root: { $in: roots } })])).flat();
  rows.sort((a, b) => lastActivityAt(a) - lastActivityAt(b));
  const isUnderWay = (row: DeliveryRow) => isUnfinished(row.state) && !isStalled(deps, row);
  const latest = new Map(rows.map((row) => [row.eventId, row]));
  for (const row of rows) if (isUnderWay(row)) latest.set(row.eventId, row);
  const failed = [...latest.values()].filter((row) => row.state !== 'succeeded' && !isUnderWay(row));
  return new Set(failed.map(({ eventId }) => eventId));
}

const lastActivityAt = ({ lastAttemptAt, createdAt }: DeliveryRow): number => (lastAttemptAt ?? createdAt).getTime();

/**
 * Whether the workflow of an unfinished delivery counts as lost. Deliveries in the queue of their subscription have no
 * workflow yet.
 */
function isStalled(deps: WorkerDeps, row: DeliveryRow): boolean {
  const { dueGroup, subscriptionId, nextAttemptAt, createdAt } = row;
  const dueAt = row.dueAt ?? workflowLostAt(deps, nextAttemptAt ?? createdAt);
  return dueGroup !== subscriptionId && dueAt <= deps.now();
}

/**
 * The published events of the period to which the subscription subscribes (or the failed ones among them), oldest
 * first.
 */
async function* eventsToReplay(deps: WorkerDeps, batch: BatchRow, after: Position | undefined): AsyncGenerator<Page> {
  const { merchantId, replay } = batch;
  const subscription = await subscriptionOf(deps, batch);
  if (!replay) return;
  const pages = readInOrder(deps.collections.events, {
    where: { merchantId },
    by: 'occurredAt',
    direction: 1,
    after: after ?? { at: new Date(replay.since.getTime() - 1), id: lastId },
    projection: { type: 1, internal: 1, state: 1, erasedAt: 1, onlySubscriptionId: 1 },
  });
  for await (const { rows, end } of pages) {
    const events = rows.filter(
      (event) => event.occurredAt < replay.until && event.state === 'published' && isSubscribed(subscription, event),
    );
    const ids = events.map(({ _id }) => _id);
    const failed = replay.only === 'all' ? new Set(ids) : await findFailed(deps, ids, subscription);
    const found = events.filter(({ _id }) => failed.has(_id));
    yield { found: found.map(({ _id: id, occurredAt: at }) => ({ id, at })), end };
    if (end.at >= replay.until) return;
  }
}

/** Throws ApplicationFailure BATCH_NOT_FOUND, MERCHANT_SUSPENDED, WEBHOOK_NOT_FOUND. */
export async function snapshotReplay(deps: WorkerDeps, at: ListTargets): Promise<ListProgress> {
  return listTargets(deps, at, { size: chunkSize, find: (batch, after) => eventsToReplay(deps, batch, after) });
}

/** Throws ApplicationFailure WEBHOOK_NOT_FOUND. */
export async function replayEvents(deps: WorkerDeps, input: RunChunksInput): Promise<ChunkProgress> {
  return runChunks(deps, input, async (batch, chunk) => {
    const targets = await readTargets(deps, { batch, chunk });
    if (targets.counted || targets.ids.length === 0) return chunk + 1;
    const subscription = await subscriptionOf(deps, batch);
    await replayChunk(deps, { batch, targets, subscription, cancellationSignal: input.cancellationSignal });
    return chunk + 1;
  });
}

interface ReplayChunk {
  batch: BatchRow;
  targets: BatchTargetsRow;
  subscription: SubscriptionRow;
  cancellationSignal: AbortSignal;
}

async function replayChunk(
  deps: WorkerDeps,
  { batch, targets, subscription, cancellationSignal }: ReplayChunk,
): Promise<void> {
  const { deliveries } = deps.collections;
  const events = await findByIds(deps, 'events', { ids: targets.ids, merchantId: batch.merchantId });
  const made = await newReplays(deps, { batch, events, subscription });
  // A workflow makes the first attempts that are still missing when this batch ends.
  const sentBy = deps.now().getTime() + (made.length * 1_000) / deps.config.REPLAY_PER_SECOND;
  const waiting = made.map((delivery) =>
    delivery.state === 'pending' ? { ...delivery, ...leftToWorkflow(deps, delivery, new Date(sentBy)) } : delivery,
  );
  await insertMissing(deps.collections.deliveries, waiting);
  const ids = made.map((delivery) => delivery._id);
  const fence = newFence();
  await updateByIds(deps, 'deliveries', { ids, change: { $set: { fence } } });
  const open = await deliveries.find({ _id: { $in: ids }, state: unfinished }).toArray();
  const byId = new Map(events.map((event) => [event._id, event]));
  const order = new Map(targets.ids.map((id, index) => [id, index]));
  open.sort((a, b) => (order.get(a.eventId) ?? 0) - (order.get(b.eventId) ?? 0));
  const sent = await Promise.allSettled(
    open.map(async (delivery, index) => {
      await sleep((index * 1_000) / deps.config.REPLAY_PER_SECOND, undefined, { signal: cancellationSignal });
      const event = byId.get(delivery.eventId);
      if (event) await replayOne(deps, { delivery, event, subscription, cancellationSignal });
    }),
  );
  // Keeps the rate also between the last event of this chunk and the first of the next.
  await sleep(1_000 / deps.config.REPLAY_PER_SECOND, undefined, { signal: cancellationSignal });
  const refused = sent.find((result) => result.status === 'rejected');
  if (refused) throw refused.reason;
  await countTargets(deps, { targets, outcomes: await outcomesOf(deps, { ids, total: targets.ids.length }) });
}

async function newReplays(
  deps: WorkerDeps,
  { batch, events, subscription }: { batch: BatchRow; events: EventRow[]; subscription: SubscriptionRow },
): Promise<DeliveryRow[]> {
  const roots = new Map(events.map((event) => [event._id, firstDeliveryId(event._id, subscription._id)]));
  const originals = await deps.collections.deliveries
    .find({ _id: { $in: [...roots.values()] } }, { projection: { _id: 1 } })
    .toArray();
  const known = new Set(originals.map(({ _id }) => _id));
  return events
    .filter((event) => event.envelope && !event.erasedAt)
    .map((event) => {
      const root = roots.get(event._id) ?? '';
      const id = derivedId('replay', batch._id, event._id);
      return { ...newDelivery(deps, { event, subscription, id }), root, ...(known.has(root) && { replayOf: root }) };
    });
}

interface ReplayOne {
  delivery: DeliveryRow;
  event: EventRow;
  subscription: SubscriptionRow;
  cancellationSignal: AbortSignal;
}

/**
 * Makes the first attempt of a replayed delivery. After a failure, a workflow makes the others by the subscription's
 * retry policy. While the merchant is suspended, a workflow makes the first attempt too.
 */
async function replayOne(
  deps: WorkerDeps,
  { delivery, event, subscription, cancellationSignal }: ReplayOne,
): Promise<void> {
  if ((await suspensions(deps)).has(delivery.merchantId))
    return startDeliveryWorkflow(deps, { delivery, subscription });
  await deliver(deps, {
    delivery,
    event,
    subscription,
    attemptKind: 'retry',
    checkLease: fenceCheck(deps, delivery),
    signal: cancellationSignal,
  });
}

/** Succeeded counts as `created`; skipped or no longer stored as `deduped`; every other state as `failed`. */
async function outcomesOf(deps: WorkerDeps, { ids, total }: { ids: string[]; total: number }): Promise<Outcomes> {
  const rows = await deps.collections.deliveries.find({ _id: { $in: ids } }, { projection: { state: 1 } }).toArray();
  const created = rows.filter(({ state }) => state === 'succeeded').length;
  const failed = rows.filter(({ state }) => state !== 'succeeded' && state !== 'skipped').length;
  return { created, failed, deduped: total - created - failed };
}
