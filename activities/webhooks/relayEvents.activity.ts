// The relay processes the events of one shard that no workflow took, up to 200 at a time: oldest first, round robin
// by merchant. A new activity attempt takes over the leases of the previous one at once. An event that cannot be
// processed is released and does not delay others. The relay also serves the delivery queue of its shard.
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { isUnavailable } from '../../platform/mongodb/isUnavailable.js';
import { toError } from '../../platform/toError.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import { relayId } from '../../schemas/shared/ids.js';
import { leaseEvents, releaseEvents } from '../events/leases.writes.js';
import { takeOverShard } from '../events/takeOverShard.writes.js';
import type { WorkerDeps } from '../workerDeps.js';
import { deliverQueued } from './deliverQueued.effect.js';
import { processEvents } from './processEvents.effect.js';

export interface RelayEvents {
  shard: number;
  /**
   * Part of the lease owner's id. A new activity attempt has another id, so a paused earlier one no longer owns its
   * events.
   */
  activityAttemptId: string;
  /** Ends the loop; chunks in progress are completed first. */
  signal: AbortSignal;
  /** Also ends the chunks in progress: delivery attempts in flight are aborted. */
  cancellationSignal: AbortSignal;
  heartbeat: (relayed: number) => void;
  /** The loop ends after this long, so that the workflow can start a new history. */
  forMs: number;
  /** It also ends when nothing was due for this long. */
  idleEndMs: number;
}

export interface Relayed {
  relayed: number;
  /** True when nothing was due in the end. */
  idle?: true;
}

const chunkSize = 200;
/**
 * Number of ids read by one query. The engine sorts the whole backlog for each query, so one query serves several
 * chunks.
 */
const lookAhead = 2_000;
/** Counted in events, so that small chunks waiting for a receiver do not stop the relay from taking other events. */
const maxInProgress = 3 * chunkSize;
const maxConcurrentSingles = 8;
const idleMs = { first: 50, longest: 1_000 };
/** Wait after a chunk that was not full: a chunk of several events costs hardly more than one event. */
const fillWaitMs = 100;
const outageMs = 500;
const heartbeatMs = 1_000;

interface Relaying {
  shard: number;
  leaseOwner: string;
  cancellationSignal: AbortSignal;
  dueIds: string[];
}

/** One event of each merchant, oldest first, then the second of each, and so on. */
function inTurns<T extends { merchantId: string }>(oldestFirst: readonly T[]): T[] {
  const turns = new Map<string, number>();
  return oldestFirst
    .map((event) => {
      const turn = turns.get(event.merchantId) ?? 0;
      turns.set(event.merchantId, turn + 1);
      return { event, turn };
    })
    .toSorted((a, b) => a.turn - b.turn)
    .map(({ event }) => event);
}

/** Leases the next chunk. `dueIds` holds the ids that were read as due and are not taken yet. */
async function takeChunk(deps: WorkerDeps, { shard, leaseOwner, dueIds }: Relaying): Promise<EventRow[]> {
  if (dueIds.length === 0) {
    const due = await deps.collections.events
      .find({ state: 'new', shard, dueAt: { $lte: deps.now() } }, { projection: { merchantId: 1 } })
      .sort({ dueAt: 1 })
      .limit(lookAhead)
      .toArray();
    dueIds.push(...inTurns(due).map((event) => event._id));
  }
  if (dueIds.length === 0) return [];
  deps.crashPoint('between-relay-read-and-write');
  return leaseEvents(deps, { leaseOwner, eventIds: dueIds.splice(0, chunkSize) });
}

/**
 * Processes a chunk and releases the events that failed. When the chunk fails as a whole, its events are processed one
 * by one, so that one bad event does not delay the others. While MongoDB is unavailable, the events are only released.
 */
async function relayChunk(deps: WorkerDeps, relaying: Relaying, events: EventRow[]): Promise<void> {
  const { leaseOwner, cancellationSignal, shard } = relaying;
  const failed = await processEvents(deps, { leaseOwner, events, cancellationSignal }).catch(async (error: unknown) => {
    const reason = toError(error);
    if (events.length > 1 && !isUnavailable(error)) {
      deps.log.warn(
        { err: reason, shard, events: events.length },
        'events of the relay failed together; trying one by one',
      );
      const single = pLimit(maxConcurrentSingles);
      await Promise.all(events.map((event) => single(() => relayChunk(deps, relaying, [event]))));
      return new Map<string, Error>();
    }
    return new Map(events.map((event) => [event._id, reason]));
  });
  for (const [eventId, error] of failed)
    deps.log.error({ err: error, shard, eventId }, 'an event could not be processed');
  const left = events.filter((event) => failed.has(event._id));
  await retryUntilCancelled(() => releaseEvents(deps, { leaseOwner, events: left }), cancellationSignal);
}

/**
 * Repeats `work` every 0.5 s until it succeeds or `signal` is aborted. Events that were not released by then are taken
 * over by the next activity attempt.
 */
async function retryUntilCancelled(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) throw error;
      await pause(outageMs, signal);
    }
  }
}

/**
 * Relays the events of a shard until `forMs` has passed, nothing was due for `idleEndMs`, or `signal` is aborted, with up
 * to three chunks at a time.
 * Throws when MongoDB fails while the shard is taken over; a later failure to take events is retried after 0.5 s.
 * Returns the number of relayed events.
 */
export async function relayEvents(
  deps: WorkerDeps,
  { shard, activityAttemptId, signal, cancellationSignal, heartbeat, forMs, idleEndMs }: RelayEvents,
): Promise<Relayed> {
  const relaying: Relaying = {
    shard,
    leaseOwner: `${relayId(shard)}:${activityAttemptId}`,
    cancellationSignal,
    dueIds: [],
  };
  const over = new AbortController();
  const until = performance.now() + forMs;
  let busyAt = performance.now();
  const noteBusy = (work: number) => {
    if (work > 0) busyAt = performance.now();
  };
  const isIdle = () => inProgress === 0 && performance.now() - busyAt >= idleEndMs;
  const delivering = deliverQueued(deps, {
    shard,
    noteWaiting: noteBusy,
    signal: AbortSignal.any([signal, over.signal]),
  });
  const running = new Set<Promise<void>>();
  let relayed = 0;
  let inProgress = 0;
  let idle = idleMs.first;
  const heartbeatTimer = setInterval(() => heartbeat(relayed), heartbeatMs);

  const round = async (): Promise<void> => {
    const events = await takeChunk(deps, relaying);
    noteBusy(events.length);
    if (events.length === 0) {
      await pause(idle, signal);
      idle = Math.min(idle * 2, idleMs.longest);
      return;
    }
    idle = idleMs.first;
    const work = relayChunk(deps, relaying, events)
      .then(
        () => {
          relayed += events.length;
          deps.metrics.relayed(events.length);
        },
        (error: unknown) =>
          deps.log.error({ err: error, shard }, 'events of the relay were left to the next activity attempt'),
      )
      .finally(() => {
        running.delete(work);
        inProgress -= events.length;
      });
    running.add(work);
    inProgress += events.length;
    if (events.length < chunkSize && relaying.dueIds.length === 0) await pause(fillWaitMs, signal);
    while (inProgress > maxInProgress - chunkSize) await Promise.race(running);
  };

  try {
    await takeOverShard(deps, shard);
    while (!signal.aborted && !isIdle() && performance.now() < until) {
      await round().catch(async (error: unknown) => {
        deps.log.warn({ err: error, shard }, 'the relay could not take events; trying again');
        await pause(outageMs, signal);
      });
    }
    await Promise.all(running);
    return { relayed, ...(!signal.aborted && isIdle() && { idle: true as const }) };
  } finally {
    over.abort();
    await delivering;
    clearInterval(heartbeatTimer);
  }
}

/** Ends early when `signal` is aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
