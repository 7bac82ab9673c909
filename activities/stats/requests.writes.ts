// Writes the log of requests. The rows of a merchant are numbered, and a new number ends the row that is as many numbers
// older as rows are kept, so that its newest requests stay however many it makes. A process takes the numbers a hundred
// at a time, so that a request seldom costs more than its part of an insert, which is far cheaper than a replacement.
import { LRUCache } from 'lru-cache';
import type { Deps } from '../../platform/deps.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { removeAll } from '../../platform/mongodb/updateMany.js';
import type { RequestRow } from '../../schemas/stats/stats.rows.js';

export type NewRequest = Omit<RequestRow, '_id'>;

interface Numbers {
  next: number;
  end: number;
}

export const numbersAtOnce = 100;

const idOf = (merchantId: string, number: number): string => `${merchantId}:${number}`;

/** `kept`: how many requests of a merchant are kept. */
export function createWriteRequests(deps: Deps, { kept = 50_000 } = {}): (rows: NewRequest[]) => Promise<void> {
  const taken = new LRUCache<string, Numbers>({ max: 10_000 });

  async function takeNumbers(merchantId: string): Promise<Numbers> {
    const counted = await retryOnConflict(deps, () =>
      deps.collections.counters.findOneAndUpdate(
        { _id: `requests:${merchantId}` },
        { $inc: { made: numbersAtOnce }, $setOnInsert: { merchantId } },
        { upsert: true, returnDocument: 'after' },
      ),
    );
    const end = counted?.made ?? numbersAtOnce;
    const numbers = { next: end - numbersAtOnce, end };
    const ended = Array.from({ length: numbersAtOnce }, (_, index) => numbers.next + index - kept);
    const ids = ended.filter((number) => number >= 0).map((number) => idOf(merchantId, number));
    if (ids.length > 0) await removeAll(deps, 'requests', { _id: { $in: ids } });
    taken.set(merchantId, numbers);
    return numbers;
  }

  async function numberOf(merchantId: string): Promise<number> {
    const known = taken.get(merchantId);
    const numbers = known && known.next < known.end ? known : await takeNumbers(merchantId);
    numbers.next += 1;
    return numbers.next - 1;
  }

  return async function writeRequests(rows) {
    const numbered: RequestRow[] = [];
    for (const row of rows) numbered.push({ _id: idOf(row.merchantId, await numberOf(row.merchantId)), ...row });
    await deps.collections.requests.insertMany(numbered, { ordered: false });
  };
}
