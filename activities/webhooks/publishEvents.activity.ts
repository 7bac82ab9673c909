// Publishes one or hundreds of events in the same steps: the bytes of each event are serialised once, each subscription
// gets a first attempt, the attempt adds the delivery to the log, and a failed delivery gets its own workflow.
// Idempotent: a second run finds the rows of the first one and repeats only the attempts that were not logged.
//
// Publishing waits for receivers for at most PUBLISH_WAIT_MS. A delivery that has not ended by then goes to the queue: an
// attempt in flight goes on in the background, and one that had no slot yet is made from the queue. Deliveries to
// receivers that are known to be slow or to fail go to the queue at once.
import { setMaxListeners } from 'node:events';
import { setImmediate as turnOfEventLoop } from 'node:timers/promises';
import { type SlotRequest, Withdrawn } from '../../platform/fairLimit.js';
import { toChunks } from '../../platform/toChunks.js';
import { toError } from '../../platform/toError.js';
import { within } from '../../platform/within.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import type { DeliveryRow } from '../../schemas/webhooks/webhooks.rows.js';
import { type CheckLease, startLeaseRenewal } from '../events/leaseRenewal.writes.js';
import { type Lease, leaseEvents, newFence } from '../events/leases.writes.js';
import { serialiseEnvelopes } from '../events/serialiseEnvelopes.writes.js';
import type { WorkerDeps } from '../workerDeps.js';
import { deliver } from './deliver.effect.js';
import { requeueTaken } from './deliverQueued.effect.js';
import { slotRequestOf } from './deliveryLimits.effect.js';
import { attemptExpiry, enqueue, markWaiting } from './deliveryQueue.writes.js';
import { findOpenDeliveries, type OpenDelivery } from './openDeliveries.writes.js';
import { fenceCheck } from './postWebhook.activity.js';

type PublishInput = Pick<Lease, 'leaseOwner' | 'eventIds'> & Pick<LeasedEvents, 'cancellationSignal' | 'waitMs'>;

export async function publishEvents(deps: WorkerDeps, input: PublishInput): Promise<{ published: number }> {
  const { leaseOwner, eventIds, cancellationSignal, waitMs } = input;
  const fence = newFence();
  const events = await leaseEvents(deps, { leaseOwner, eventIds, fence });
  const failed = await publishLeased(deps, { leaseOwner, fence, events, cancellationSignal, waitMs });
  const [first] = failed.values();
  if (first) throw first;
  return { published: events.length };
}

/** For a slow receiver a workflow task is not held longer, because it holds one of the 40 slots of its worker. */
const inTaskMs = 250;

/** The same inside a workflow task. */
export const publishNow = (deps: WorkerDeps, input: PublishInput): Promise<{ published: number }> =>
  publishEvents(deps, { ...input, waitMs: Math.min(deps.config.PUBLISH_WAIT_MS, inTaskMs) });

export interface LeasedEvents {
  leaseOwner: string;
  /** The fence of the lease; without a fence, all attempts of the lease owner share the lease. */
  fence?: string;
  events: EventRow[];
  /** Aborted when this process must hand over its work; attempts in flight are then cancelled. */
  cancellationSignal?: AbortSignal | undefined;
  /** How long receivers are waited for; default: PUBLISH_WAIT_MS. */
  waitMs?: number | undefined;
}

/**
 * Publishes all events that it can; an event that fails does not stop the others. Returns the events that are not
 * published yet, each with its error (LeaseLost included); these events stay leased. Throws when the database fails
 * before the first attempt, or when the events cannot be marked as published.
 */
export async function publishLeased(deps: WorkerDeps, leased: LeasedEvents): Promise<Map<string, Error>> {
  const { leaseOwner, fence, events, cancellationSignal, waitMs } = leased;
  if (events.length === 0) return new Map();
  const lease = { leaseOwner, fence, eventIds: events.map((event) => event._id) };
  const { check: checkLease, stop: stopRenewal } = startLeaseRenewal(deps, lease);
  try {
    const open = await findOpenDeliveries(deps, await serialiseEnvelopes(deps, events));
    const failed = await makeFirstAttempts(deps, open, { checkLease, cancellationSignal, waitMs });
    deps.crashPoint('after-log-before-mark');
    await deps.markPublished({ leaseOwner, fence, events: events.filter(({ _id }) => !failed.has(_id)) });
    return failed;
  } finally {
    stopRenewal();
  }
}

function goesToQueue(deps: WorkerDeps, { delivery, startsInQueue, subscription: { _id } }: OpenDelivery): boolean {
  if (delivery.state !== 'pending') return false;
  return (
    startsInQueue || deps.deliveryLimits.oldestMs(_id) > deps.config.PUBLISH_WAIT_MS || deps.background.hasBacklog(_id)
  );
}

/** Attempts that are started in one turn of the event loop. */
const attemptsInTurn = 5;

interface Underway extends OpenDelivery {
  slot: SlotRequest;
  ended: boolean;
  /** Set when the delivery is handed over to the queue. */
  handover?: Promise<void>;
}

interface PublishContext {
  /** The lease check of the events. */
  checkLease: CheckLease;
  cancellationSignal: AbortSignal | undefined;
  waitMs?: number | undefined;
}

/**
 * Returns the ids of the events with a delivery that failed before it was in the log or in the queue, each with its
 * error. Throws when the queue cannot be written.
 */
export async function makeFirstAttempts(
  deps: WorkerDeps,
  open: readonly OpenDelivery[],
  { checkLease, cancellationSignal, waitMs = deps.config.PUBLISH_WAIT_MS }: PublishContext,
): Promise<Map<string, Error>> {
  const failed = new Map<string, Error>();
  // The cancellation ends everything that publishing waits for. An attempt that moved to the queue is no longer part of
  // it.
  const cancelled = new AbortController();
  const cancel = () => cancelled.abort();
  if (cancellationSignal?.aborted) cancel();
  cancellationSignal?.addEventListener('abort', cancel, { once: true });
  const signal = AbortSignal.any([cancelled.signal, deps.background.signal]);
  // Each attempt in flight adds a listener; by default Node warns above 10 listeners.
  setMaxListeners(0, signal);
  const known: DeliveryRow[] = [];
  const slow: DeliveryRow[] = [];
  const underway: Underway[] = [];
  for (const entry of open) {
    const { delivery, subscription } = entry;
    if (delivery.dueGroup === subscription._id) known.push(delivery);
    else if (goesToQueue(deps, entry)) slow.push(delivery);
    else underway.push({ ...entry, slot: slotRequestOf(subscription, 'first'), ended: false });
  }
  const enqueued = Promise.all([
    // An earlier attempt to publish may have died before it marked the subscription's queue.
    markWaiting(deps, known),
    enqueue(
      deps,
      slow.map((delivery) => ({ delivery, dueAt: deps.now() })),
    ),
  ]);
  // Awaited below; a rejection until then must not end the process.
  enqueued.catch(() => {});
  const until = performance.now() + waitMs;
  const attempts: Promise<void>[] = [];
  for (const entry of underway) {
    const checkFence = fenceCheck(deps, entry.delivery);
    const attempt = deliver(deps, {
      ...entry,
      unlogged: true,
      attemptKind: 'first',
      checkLease: () => entry.handover?.then(checkFence) ?? checkLease(),
      signal,
    })
      .catch(async (error: unknown) => {
        if (!entry.handover) failed.set(entry.event._id, toError(error));
        else if (!(error instanceof Withdrawn))
          await entry.handover.then(
            () => requeueTaken(deps, entry.delivery, error),
            () => {},
          );
      })
      .then(() => {
        entry.ended = true;
      });
    deps.background.run(attempt);
    attempts.push(attempt);
    if (attempts.length % attemptsInTurn === 0) await turnOfEventLoop();
  }
  await within(Promise.all(attempts), { ms: Math.max(until - performance.now(), 0), fallback: undefined });
  await enqueued;
  for (const slice of toChunks(underway))
    await handOver(
      deps,
      slice.filter(({ ended }) => !ended),
    );
  cancellationSignal?.removeEventListener('abort', cancel);
  return failed;
}

/** Moves the deliveries that have not ended to the queue. */
async function handOver(deps: WorkerDeps, left: Underway[]): Promise<void> {
  const queued = left.map(({ delivery, subscription, slot }) => {
    if (!deps.deliveryLimits.withdraw(slot)) return { delivery, dueAt: attemptExpiry(deps, subscription) };
    deps.background.noteBacklog(subscription._id, true);
    return { delivery, dueAt: deps.now() };
  });
  const handover = enqueue(deps, queued);
  for (const entry of left) entry.handover = handover;
  await handover;
}
