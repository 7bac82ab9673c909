// The backlog of the outbox, for /readyz. It reads at most 1,000 events in all from the relay's own index, so the cost
// does not grow with the backlog.
import type { Deps } from '../../platform/deps.js';

const mostRead = 1_000;

export interface OutboxState {
  /** Number of events that wait for the relay, counted up to about 1,000. */
  due: number;
  /** How long the event with the oldest `dueAt` has been due; 0 when no event is due. */
  oldestDueAgeMs: number;
  /** Age of the oldest event among those read. It shows events that fail again and again. */
  oldestAgeMs: number;
}

const stuckAfterMs = { due: 30_000, unpublished: 15 * 60_000 };

export async function outboxState(deps: Deps): Promise<OutboxState> {
  const shards = deps.config.RELAY_SHARDS;
  const now = deps.now().getTime();
  const waiting = await Promise.all(
    Array.from({ length: shards }, (_, shard) =>
      deps.collections.events
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

/**
 * True when an event has been due for more than 30 s (no relay runs) or is unpublished after 15 minutes (it keeps
 * failing).
 */
export const isStuck = ({ oldestDueAgeMs, oldestAgeMs }: OutboxState): boolean =>
  oldestDueAgeMs > stuckAfterMs.due || oldestAgeMs > stuckAfterMs.unpublished;
