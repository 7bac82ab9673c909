// Marks events as published and counts them in the same transaction. Concurrent calls share a transaction.
import { createBatcher } from '../../platform/batcher.js';
import type { Deps } from '../../platform/deps.js';
import { isDuplicateKey, isWriteConflict, VersionConflict } from '../../platform/mongodb/conflicts.js';
import { commit } from '../../platform/mongodb/inTransaction.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { updateMany } from '../../platform/mongodb/statements.js';
import type { Statement } from '../../platform/mongodb/transaction.js';
import { defaultChunkSize, toChunks } from '../../platform/toChunks.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import { countedOf } from '../../schemas/stats/stats.schema.js';
import { type Counting, createCounting } from '../stats/counting.writes.js';
import { isPushPending } from './isPushPending.rules.js';
import { type Lease, leasedBy } from './leases.writes.js';
import { workflowLostAt } from './workflowLostAt.rules.js';

interface Published extends Omit<Lease, 'eventIds'> {
  events: readonly EventRow[];
}

/**
 * Marks the events as published, except those that another run has taken over. The same write marks events without
 * a recorded push as late.
 */
export type MarkPublished = (published: Published) => Promise<void>;

/** Two writers may insert the same row of counters. */
const isContended = (error: unknown): boolean => isWriteConflict(error) || isDuplicateKey(error);

export function createMarkPublished(deps: Deps): MarkPublished {
  const counting = createCounting(deps);
  const mark = createBatcher(
    async (group: Published[]) => {
      try {
        await retryOnConflict(deps, () => commitMarks(deps, counting, group), isContended);
      } catch (error) {
        if (!(error instanceof VersionConflict)) throw error;
        for (const one of group) await markHeld(deps, counting, one);
      }
      return group.map(() => undefined);
    },
    { batchSize: defaultChunkSize, sizeOf: ({ events }) => events.length, concurrency: 1 },
  );
  return async ({ events, ...owner }) => {
    for (const some of toChunks(events)) await mark({ ...owner, events: some });
  };
}

/** Marks the events that the owner still holds. */
function markHeld(deps: Deps, counting: Counting, { events, ...owner }: Published): Promise<void> {
  return retryOnConflict(deps, async () => {
    const lease = leasedBy({ ...owner, eventIds: events.map(({ _id }) => _id) });
    const rows = await deps.collections.events.find(lease, { projection: { _id: 1 } }).toArray();
    const held = new Set(rows.map(({ _id }) => _id));
    await commitMarks(deps, counting, [{ ...owner, events: events.filter(({ _id }) => held.has(_id)) }]);
  });
}

/** Throws VersionConflict without a write when an event is no longer held. */
function commitMarks(deps: Deps, counting: Counting, group: readonly Published[]): Promise<void> {
  return counting.changeSlotOnConflict(async () => {
    const marks = group.flatMap((one) => marksOf(deps, one));
    if (marks.length === 0) return;
    const counted = await counting.statements(group.flatMap(({ events }) => events.flatMap(countedOf)));
    const expected = group.reduce((sum, { events }) => sum + events.length, counted.length);
    await commit(deps, [...marks, ...counted], (matched) => {
      if (matched < expected) throw new VersionConflict('Another run has taken over an event.');
    });
  });
}

function marksOf(deps: Deps, { events, ...owner }: Published): Statement[] {
  const mark = (some: readonly EventRow[], late: { pushDueAt?: Date }): Statement[] => {
    if (some.length === 0) return [];
    const held = leasedBy({ ...owner, eventIds: some.map(({ _id }) => _id) });
    return [updateMany(deps, 'events', held, { $set: { state: 'published', publishedAt: deps.now(), ...late } })];
  };
  return [
    ...mark(
      events.filter((event) => !isPushPending(event)),
      {},
    ),
    ...mark(events.filter(isPushPending), { pushDueAt: workflowLostAt(deps) }),
  ];
}
