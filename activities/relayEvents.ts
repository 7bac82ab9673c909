// The relay: whatever event no workflow took is taken here, oldest first, some hundred at a time. One relay works on one
// shard of merchants; a new attempt takes over at once what the attempt before it held. What cannot be carried out is
// given back and holds up nothing else.
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { EventRow } from '../schemas/collections.js';
import { relayId } from '../schemas/ids.js';
import { carryOut } from './carryOut.js';
import { claimEvents, farthestAheadMs, giveBack, LeaseLost } from './claimEvents.js';
import { isAway } from './isAway.js';
import type { WorkerDeps } from './workerDeps.js';

export interface RelayEvents {
  shard: number;
  /** Names this attempt, so that an attempt that stood still cannot go on under its successor's name. */
  attemptId: string;
  /** Ends the loop; work under way is finished first. */
  signal: AbortSignal;
  /** Ends the work under way too: attempts in flight are called off. */
  callOff: AbortSignal;
  heartbeat: (relayed: number) => void;
  /** The loop ends after this long, so that the workflow's history starts afresh. */
  forMs: number;
}

const batchSize = 200;
/** A backlog is sorted by the engine each time it is looked at, so it is not looked at for each batch. */
const lookAhead = 2_000;
const batchesAtOnce = 3;
const singlesAtOnce = 8;
const idleMs = { first: 50, longest: 1_000 };
/** After less than a whole batch: what comes meanwhile is one batch, where each alone would cost nearly as much. */
const companyMs = 100;
const outageMs = 500;
const heartbeatMs = 1_000;

interface Relaying {
  shard: number;
  holder: string;
  callOff: AbortSignal;
  ahead: string[];
}

/** The next batch; `ahead` holds what was seen due and not taken yet, oldest first. */
async function take(deps: WorkerDeps, { shard, holder, ahead }: Relaying): Promise<EventRow[]> {
  if (ahead.length === 0) {
    const due = await deps.rows.events
      .find({ state: 'new', shard, dueAt: { $lte: deps.now() } }, { projection: { _id: 1 } })
      .sort({ dueAt: 1 })
      .limit(lookAhead)
      .toArray();
    ahead.push(...due.map((event) => event._id));
  }
  if (ahead.length === 0) return [];
  deps.crashPoint('between-relay-read-and-write');
  return claimEvents(deps, { holder, eventIds: ahead.splice(0, batchSize) });
}

/**
 * What the attempt before this one held is due now, and so is what only a clock that was put back since calls future. The
 * first shard takes on the events of shards that are no more, since `RELAY_SHARDS` was lowered.
 */
async function inherit(deps: WorkerDeps, shard: number): Promise<void> {
  if (shard === 0)
    await deps.rows.events.updateMany(
      { state: 'new', shard: { $gte: deps.config.RELAY_SHARDS } },
      { $set: { shard: 0 } },
    );
  const prefix = `${relayId(shard)}:`;
  const now = deps.now();
  const due = { $set: { holder: '', dueAt: now } };
  const held = { $gte: prefix, $lt: `${prefix}\u{10FFFF}` };
  await deps.rows.events.updateMany({ state: 'new', shard, holder: held }, due);
  const tooFar = { $gt: new Date(now.getTime() + farthestAheadMs) };
  await deps.rows.events.updateMany({ state: 'new', shard, dueAt: tooFar }, due);
}

/** Carries out what it can; when a batch fails as a whole, one by one, so that one bad event does not hold the others. */
async function relayBatch(deps: WorkerDeps, relaying: Relaying, events: EventRow[], claimedAt: number): Promise<void> {
  const { holder, callOff, shard } = relaying;
  const failed = await carryOut(deps, { holder, claimedAt, events, callOff }).catch(async (error: unknown) => {
    const reason = error instanceof Error ? error : new Error(String(error));
    if (events.length > 1 && !isAway(error) && !(error instanceof LeaseLost)) {
      deps.log.warn({ err: reason, shard, events: events.length }, 'a batch of the relay failed; trying one by one');
      const single = pLimit(singlesAtOnce);
      await Promise.all(events.map((event) => single(() => relayBatch(deps, relaying, [event], 0))));
      return new Map<string, Error>();
    }
    return new Map(events.map((event) => [event._id, reason]));
  });
  for (const [eventId, error] of failed)
    deps.log.error({ err: error, shard, eventId }, 'an event could not be carried out');
  const left = events.filter((event) => failed.has(event._id));
  await persistently(() => giveBack(deps, { holder, events: left }), callOff);
}

/** Until it is done, or for as long as this attempt may work: what is not given back, the next attempt inherits. */
async function persistently(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) throw error;
      await pause(outageMs, signal);
    }
  }
}

export async function relayEvents(
  deps: WorkerDeps,
  { shard, attemptId, signal, callOff, heartbeat, forMs }: RelayEvents,
): Promise<{ relayed: number }> {
  const relaying: Relaying = { shard, holder: `${relayId(shard)}:${attemptId}`, callOff, ahead: [] };
  const until = performance.now() + forMs;
  const atWork = new Set<Promise<void>>();
  let relayed = 0;
  let idle = idleMs.first;
  const beating = setInterval(() => heartbeat(relayed), heartbeatMs);

  const round = async (): Promise<void> => {
    const claimedAt = performance.now();
    const events = await take(deps, relaying);
    if (events.length === 0) {
      await pause(idle, signal);
      idle = Math.min(idle * 2, idleMs.longest);
      return;
    }
    idle = idleMs.first;
    const batch = relayBatch(deps, relaying, events, claimedAt)
      .then(
        () => {
          relayed += events.length;
          deps.metrics.relayed(events.length);
        },
        (error: unknown) => deps.log.error({ err: error, shard }, 'a batch of the relay was left to the next attempt'),
      )
      .finally(() => atWork.delete(batch));
    atWork.add(batch);
    if (events.length < batchSize && relaying.ahead.length === 0) await pause(companyMs, signal);
    if (atWork.size >= batchesAtOnce) await Promise.race(atWork);
  };

  try {
    await inherit(deps, shard);
    while (!signal.aborted && performance.now() < until) {
      await round().catch(async (error: unknown) => {
        deps.log.warn({ err: error, shard }, 'the relay could not take events; trying again');
        await pause(outageMs, signal);
      });
    }
    await Promise.all(atWork);
    return { relayed };
  } finally {
    clearInterval(beating);
  }
}

/** Ends early when `signal` says so. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
