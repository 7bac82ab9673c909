// The relay: whatever event no workflow took is taken here, oldest first, some hundred at a time. One relay works on one
// shard of merchants; a new attempt takes over at once what the attempt before it held.
import type { EventRow } from '../schemas/collections.js';
import { relayId } from '../schemas/ids.js';
import { carryOut } from './carryOut.js';
import { claimEvents } from './claimEvents.js';
import type { WorkerDeps } from './workerDeps.js';

export interface RelayEvents {
  shard: number;
  /** Names this attempt, so that an attempt that stood still cannot go on under its successor's name. */
  attemptId: string;
  /** Ends the loop; work under way is finished first. */
  signal: AbortSignal;
  heartbeat: (relayed: number) => void;
  /** The loop ends after this long, so that the workflow's history starts afresh. */
  forMs: number;
}

const batchSize = 200;
const batchesAtOnce = 3;
const idleMs = { first: 50, longest: 1_000 };
const heartbeatMs = 1_000;

async function take(deps: WorkerDeps, { shard, holder }: { shard: number; holder: string }): Promise<EventRow[]> {
  const due = await deps.rows.events
    .find({ state: 'new', shard, dueAt: { $lte: deps.now() } }, { projection: { _id: 1 } })
    .sort({ dueAt: 1 })
    .limit(batchSize)
    .toArray();
  if (due.length === 0) return [];
  deps.crashPoint('between-relay-read-and-write');
  return claimEvents(deps, { holder, eventIds: due.map((event) => event._id) });
}

/** What the attempt before this one held is due now. */
async function inherit(deps: WorkerDeps, shard: number): Promise<void> {
  const prefix = `${relayId(shard)}:`;
  await deps.rows.events.updateMany(
    { state: 'new', shard, holder: { $gte: prefix, $lt: `${prefix}\u{10FFFF}` } },
    { $set: { holder: '', dueAt: deps.now() } },
  );
}

export async function relayEvents(
  deps: WorkerDeps,
  { shard, attemptId, signal, heartbeat, forMs }: RelayEvents,
): Promise<{ relayed: number }> {
  const holder = `${relayId(shard)}:${attemptId}`;
  const until = performance.now() + forMs;
  const atWork = new Set<Promise<void>>();
  let relayed = 0;
  let idle = idleMs.first;
  const beating = setInterval(() => heartbeat(relayed), heartbeatMs);

  const work = async (events: EventRow[]): Promise<void> => {
    try {
      await carryOut(deps, { holder, events });
      relayed += events.length;
      deps.metrics.relayed(events.length);
    } catch (error) {
      // The claim runs out by itself; the events are taken again then.
      deps.log.error({ err: error, shard, events: events.length }, 'a batch of the relay failed');
    }
  };

  try {
    await inherit(deps, shard);
    while (!signal.aborted && performance.now() < until) {
      const events = await take(deps, { shard, holder });
      if (events.length === 0) {
        await pause(idle, signal);
        idle = Math.min(idle * 2, idleMs.longest);
        continue;
      }
      idle = idleMs.first;
      const batch = work(events).finally(() => atWork.delete(batch));
      atWork.add(batch);
      if (atWork.size >= batchesAtOnce) await Promise.race(atWork);
    }
    await Promise.all(atWork);
    return { relayed };
  } finally {
    clearInterval(beating);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
