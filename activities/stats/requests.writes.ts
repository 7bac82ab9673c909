// Writes the log of requests. A merchant has a fixed number of slots, which are taken in turn, so that its newest
// requests stay however many it makes. A process takes the slots a hundred at a time, so that a request of a merchant
// seldom costs a write of its counter.
import { LRUCache } from 'lru-cache';
import type { Deps } from '../../platform/deps.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { writeBulk } from '../../platform/mongodb/transact.js';
import type { RequestRow } from '../../schemas/stats/stats.rows.js';

export type NewRequest = Omit<RequestRow, '_id'>;

interface Slots {
  next: number;
  end: number;
}

const slotsAtOnce = 100;

type WriteDeps = Pick<Deps, 'mongo' | 'collections' | 'log' | 'retryForMs'>;

/** `kept`: how many requests of a merchant are kept. */
export function createWriteRequests(deps: WriteDeps, { kept = 50_000 } = {}): (rows: NewRequest[]) => Promise<void> {
  const taken = new LRUCache<string, Slots>({ max: 10_000 });

  async function takeSlots(merchantId: string): Promise<Slots> {
    const counted = await retryOnConflict(deps, () =>
      deps.collections.counters.findOneAndUpdate(
        { _id: `requests:${merchantId}` },
        { $inc: { made: slotsAtOnce }, $setOnInsert: { merchantId } },
        { upsert: true, returnDocument: 'after' },
      ),
    );
    const end = counted?.made ?? slotsAtOnce;
    const slots = { next: end - slotsAtOnce, end };
    taken.set(merchantId, slots);
    return slots;
  }

  async function slotOf(merchantId: string): Promise<number> {
    const known = taken.get(merchantId);
    const slots = known && known.next < known.end ? known : await takeSlots(merchantId);
    slots.next += 1;
    return (slots.next - 1) % kept;
  }

  return async function writeRequests(rows) {
    const { namespace } = deps.collections.requests;
    const bySlot = new Map<string, NewRequest>();
    for (const row of rows) bySlot.set(`${row.merchantId}:${await slotOf(row.merchantId)}`, row);
    await writeBulk(
      deps,
      Array.from(bySlot, ([_id, row]) => ({
        ...{ name: 'replaceOne' as const, namespace, upsert: true },
        ...{ filter: { _id }, replacement: { _id, ...row } },
      })),
    );
  };
}
