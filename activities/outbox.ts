// How far behind the outbox is, as readiness and metrics show it: read from the relay's own index, a bounded number of events
// a shard, so that a backlog of any size costs the same.
import type { Store } from './deps.js';

const mostRead = 1_000;

export interface OutboxState {
  /** Events that wait for the relay, counted up to 1,000. */
  due: number;
  /** How long the one that is due longest has waited; 0 when none is. */
  oldestDueAgeMs: number;
  /** How long ago the oldest of the next unpublished ones happened: an event that fails again and again shows here. */
  oldestAgeMs: number;
}

const stuckAfterMs = { due: 30_000, unpublished: 15 * 60_000 };

export async function outboxState(store: Store): Promise<OutboxState> {
  const shards = store.config.RELAY_SHARDS;
  const now = store.now().getTime();
  const waiting = await Promise.all(
    Array.from({ length: shards }, (_, shard) =>
      store.rows.events
        .find({ state: 'new', shard }, { projection: { _id: 0, dueAt: 1, occurredAt: 1 } })
        .sort({ dueAt: 1 })
        .limit(Math.ceil(mostRead / shards))
        .toArray(),
    ),
  );
  const events = waiting.flat();
  const due = events.filter((event) => event.dueAt.getTime() <= now);
  const oldest = (times: Date[]): number => times.reduce((age, time) => Math.max(age, now - time.getTime()), 0);
  return {
    due: due.length,
    oldestDueAgeMs: oldest(due.map((event) => event.dueAt)),
    oldestAgeMs: oldest(events.map((event) => event.occurredAt)),
  };
}

/** True when nobody seems to work on it, or one event keeps failing. */
export const isStuck = ({ oldestDueAgeMs, oldestAgeMs }: OutboxState): boolean =>
  oldestDueAgeMs > stuckAfterMs.due || oldestAgeMs > stuckAfterMs.unpublished;
