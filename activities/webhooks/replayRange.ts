// Sending a stretch of a merchant's events to one subscription again: the original eventIds and bytes, at a bounded rate, beside
// the first attempts of what happens now. Each event has one delivery of the replay, under an id derived from both, so a
// chunk that runs twice repeats only what was not logged.
import type { Filter } from 'mongodb';
import { isFinished } from '../../schemas/batches.js';
import type { BatchRow, BatchTargetsRow, DeliveryRow, EventRow, SubscriptionRow } from '../../schemas/collections.js';
import { ServiceError } from '../../schemas/errors.js';
import { derivedId, firstDeliveryId } from '../../schemas/ids.js';
import type { DeliveryState } from '../../schemas/webhooks.js';
import type { ImportStep } from '../../schemas/workflows.js';
import { type Confirm, newFence } from '../claimEvents.js';
import { findByIds } from '../findByIds.js';
import { nonRetryable, type StepInput, takeSteps } from '../imports/takeSteps.js';
import { insertNew } from '../insertNew.js';
import { beginBatch, countTargets, drawUp, type Outcomes, readTargets } from '../targets.js';
import type { WorkerDeps } from '../workerDeps.js';
import { attemptDelivery } from './attemptDelivery.js';
import { fenceOf } from './postWebhook.js';
import { newDelivery, retryLater } from './publishEvents.js';

const chunkSize = 50;
const readTogether = 500;

/** Throws ApplicationFailure: without its subscription, or with a disabled one, a replay ends. */
async function subscriptionOf(
  deps: WorkerDeps,
  { merchantId, subscriptionId = '' }: BatchRow,
): Promise<SubscriptionRow> {
  const subscription = await deps.rows.subscriptions.findOne({ _id: subscriptionId, merchantId });
  const why = subscription ? 'The subscription is disabled.' : 'The subscription was deleted.';
  if (!subscription?.enabled) throw nonRetryable(new ServiceError('WEBHOOK_NOT_FOUND', undefined, why));
  return subscription;
}

/**
 * Those whose latest delivery, replays and their replays included, was given up or skipped: what succeeded since is not sent
 * again, what failed again is, and what is under way is left to its own workflow.
 */
async function failedOnes(deps: WorkerDeps, eventIds: string[], subscription: SubscriptionRow): Promise<Set<string>> {
  const roots = eventIds.map((eventId) => firstDeliveryId(eventId, subscription._id));
  const read = (where: Filter<DeliveryRow>) =>
    deps.rows.deliveries
      .find(where, { projection: { eventId: 1, state: 1, createdAt: 1, lastAttemptAt: 1 } })
      .toArray();
  const rows = (await Promise.all([read({ _id: { $in: roots } }), read({ root: { $in: roots } })])).flat();
  rows.sort((a, b) => lastTold(a) - lastTold(b));
  const latest = new Map(rows.map(({ eventId, state }) => [eventId, state]));
  for (const { eventId, state } of rows) if (isUnderWay(state)) latest.set(eventId, state);
  return new Set([...latest].filter(([, state]) => state === 'exhausted' || state === 'skipped').map(([id]) => id));
}

const lastTold = ({ lastAttemptAt, createdAt }: DeliveryRow): number => (lastAttemptAt ?? createdAt).getTime();
const isUnderWay = (state: DeliveryState): boolean => state === 'pending' || state === 'retrying';

/** The events of the stretch that the subscription asks for, oldest first. */
async function* wanted(deps: WorkerDeps, batch: BatchRow, subscription: SubscriptionRow): AsyncGenerator<string> {
  const { merchantId, replay } = batch;
  if (!replay) return;
  const events = deps.rows.events
    .find(
      { merchantId, occurredAt: { $gte: replay.since, $lt: replay.until } },
      { projection: { type: 1, silent: 1, state: 1 } },
    )
    .sort({ occurredAt: 1 })
    .batchSize(readTogether);
  const everything = subscription.events.includes('*');
  let together: string[] = [];
  const sifted = async (): Promise<string[]> => {
    const ids = together;
    together = [];
    if (replay.only === 'all') return ids;
    const failed = await failedOnes(deps, ids, subscription);
    return ids.filter((id) => failed.has(id));
  };
  for await (const { _id, type, silent, state } of events) {
    if (silent || state !== 'published' || !(everything || subscription.events.includes(type))) continue;
    together.push(_id);
    if (together.length >= readTogether) yield* await sifted();
  }
  if (together.length > 0) yield* await sifted();
}

/** Throws ApplicationFailure BATCH_NOT_FOUND, WEBHOOK_NOT_FOUND. */
export async function drawUpReplay(deps: WorkerDeps, at: { batchId: string }): Promise<{ total: number }> {
  const batch = await beginBatch(deps, at);
  const subscription = await subscriptionOf(deps, batch);
  return drawUp(deps, { batch, ids: wanted(deps, batch, subscription), size: chunkSize });
}

/** Throws ApplicationFailure WEBHOOK_NOT_FOUND. */
export async function replayEvents(deps: WorkerDeps, input: StepInput): Promise<ImportStep> {
  return takeSteps(deps, input, async (batch, chunk) => {
    if (batch.cancelRequestedAt || isFinished(batch.phase)) return 'stop';
    const targets = await readTargets(deps, { batch, chunk });
    if (targets.counted) return chunk + 1;
    const subscription = await subscriptionOf(deps, batch);
    await replayChunk(deps, { batch, targets, subscription, callOff: input.callOff });
    return chunk + 1;
  });
}

interface ReplayChunk {
  batch: BatchRow;
  targets: BatchTargetsRow;
  subscription: SubscriptionRow;
  callOff: AbortSignal;
}

async function replayChunk(deps: WorkerDeps, { batch, targets, subscription, callOff }: ReplayChunk): Promise<void> {
  const { deliveries } = deps.rows;
  const events = await findByIds(deps.rows.events, { ids: targets.ids, merchantId: batch.merchantId });
  const made = await newReplays(deps, { batch, events, subscription });
  await insertNew(deps.rows.deliveries, made);
  const ids = made.map((delivery) => delivery._id);
  const fence = newFence();
  const claimedAt = performance.now();
  await deliveries.updateMany({ _id: { $in: ids } }, { $set: { fence } });
  const open = await deliveries.find({ _id: { $in: ids }, state: { $in: ['pending', 'retrying'] } }).toArray();
  const byId = new Map(events.map((event) => [event._id, event]));
  const order = new Map(targets.ids.map((id, index) => [id, index]));
  open.sort((a, b) => (order.get(a.eventId) ?? 0) - (order.get(b.eventId) ?? 0));
  const sent = await Promise.allSettled(
    open.map(async (delivery, index) => {
      await pause((index * 1_000) / deps.config.REPLAY_PER_SECOND, callOff);
      const confirm = fenceOf(deps, { deliveryId: delivery._id, fence, claimedAt });
      const event = byId.get(delivery.eventId);
      if (event) await replayOne(deps, { delivery, event, subscription, confirm, callOff });
    }),
  );
  // Keeps the rate across chunks.
  await pause(1_000 / deps.config.REPLAY_PER_SECOND, callOff);
  const refused = sent.find((result) => result.status === 'rejected');
  if (refused) throw refused.reason;
  await countTargets(deps, { targets, outcomes: await outcomesOf(deps, { ids, total: targets.ids.length }) });
}

async function newReplays(
  deps: WorkerDeps,
  { batch, events, subscription }: { batch: BatchRow; events: EventRow[]; subscription: SubscriptionRow },
): Promise<DeliveryRow[]> {
  const roots = new Map(events.map((event) => [event._id, firstDeliveryId(event._id, subscription._id)]));
  const originals = await deps.rows.deliveries
    .find({ _id: { $in: [...roots.values()] } }, { projection: { _id: 1 } })
    .toArray();
  const known = new Set(originals.map(({ _id }) => _id));
  return events
    .filter((event) => event.envelope)
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
  confirm: Confirm;
  callOff: AbortSignal;
}

/** A failure goes on in a workflow of its own, by the subscription's policy. */
async function replayOne(
  deps: WorkerDeps,
  { delivery, event, subscription, confirm, callOff }: ReplayOne,
): Promise<void> {
  const { maxAttempts } = subscription.retryPolicy;
  const suffix = delivery._id;
  if (delivery.state === 'retrying') {
    const waitMs = Math.max((delivery.nextAttemptAt?.getTime() ?? 0) - deps.now().getTime(), 0);
    await retryLater(deps, { delivery, subscription, waitMs, attempts: maxAttempts - delivery.attempts, suffix });
    return;
  }
  const { state, waitMs } = await attemptDelivery(deps, {
    delivery,
    event,
    subscription,
    turn: 'retry',
    last: maxAttempts <= 1,
    confirm,
    signal: callOff,
  });
  if (state === 'retrying')
    await retryLater(deps, { delivery, subscription, waitMs, attempts: maxAttempts - 1, suffix });
}

/** Delivered is `created`; skipped, or no longer kept, is `deduped`; what is retried or given up is `failed`. */
async function outcomesOf(deps: WorkerDeps, { ids, total }: { ids: string[]; total: number }): Promise<Outcomes> {
  const rows = await deps.rows.deliveries.find({ _id: { $in: ids } }, { projection: { state: 1 } }).toArray();
  const created = rows.filter(({ state }) => state === 'succeeded').length;
  const failed = rows.filter(({ state }) => state !== 'succeeded' && state !== 'skipped').length;
  return { created, failed, deduped: total - created - failed };
}

function pause(ms: number, callOff: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(new Error('The replay was called off.'));
    };
    const timer = setTimeout(() => {
      callOff.removeEventListener('abort', stop);
      resolve();
    }, ms);
    callOff.addEventListener('abort', stop, { once: true });
    if (callOff.aborted) stop();
  });
}
