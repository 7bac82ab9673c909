// Maintains the totals that lists show. Concurrent enrollments share one write, because each write waits for the disk.
// Enrollments that a crash left uncounted are added by the scheduled recount (activities/members/recount.activity.ts).
import { createBatcher } from '../batcher.js';
import type { CountMembers, Deps, NewMembers } from '../deps.js';
import { update } from './statements.js';
import { writeBulk } from './transact.js';

const batcherOptions = { batchSize: 256, concurrency: 1, maxWaitMs: 2_000 };

export function createCountMembers(deps: Pick<Deps, 'mongo' | 'collections' | 'log' | 'retryForMs'>): CountMembers {
  return createBatcher(async (all: NewMembers[]) => {
    const sums = new Map<string, NewMembers>();
    for (const one of all)
      for (const _id of [one.merchantId, `${one.merchantId}:${one.programId}`])
        sums.set(_id, { ...one, created: one.created + (sums.get(_id)?.created ?? 0) });
    await writeBulk(
      deps,
      [...sums].map(([_id, { merchantId, created }]) =>
        update(deps, 'counters', { _id }, { $inc: { members: created }, $setOnInsert: { merchantId } }, true),
      ),
    );
    return all.map(() => undefined);
  }, batcherOptions);
}
