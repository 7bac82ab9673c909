// The totals that lists show. Whoever enrolls at the same moment is counted together: each count alone would wait for the disk.
// What a crash leaves uncounted, the scheduled recount repairs.
import type { Store } from './deps.js';
import { gather } from './gather.js';
import { update, writeTogether } from './transact.js';

export interface NewMembers {
  merchantId: string;
  programId: string;
  created: number;
}

export type CountMembers = (of: NewMembers) => Promise<void>;

const groups = { max: 256, atOnce: 1, patienceMs: 2_000 };

export function createCountMembers(store: Pick<Store, 'mongo' | 'rows' | 'log'>): CountMembers {
  return gather(async (all: NewMembers[]) => {
    const sums = new Map<string, NewMembers>();
    for (const one of all)
      for (const _id of [one.merchantId, `${one.merchantId}:${one.programId}`])
        sums.set(_id, { ...one, created: one.created + (sums.get(_id)?.created ?? 0) });
    await writeTogether(
      store,
      [...sums].map(([_id, { merchantId, created }]) =>
        update(store, 'counters', { _id }, { $inc: { members: created }, $setOnInsert: { merchantId } }, true),
      ),
    );
    return all.map(() => undefined);
  }, groups);
}
