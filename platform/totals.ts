// Totals of lists. A count that costs much is kept for ten times as long as it took, so that counting takes a tenth of a
// core at most, however often the list is read. A count that exceeds its time limit has no result.
import { LRUCache } from 'lru-cache';
import { createCoalesce } from './coalesce.js';
import { isTimeLimit } from './mongodb/isUnavailable.js';

/** The time limit of a count in milliseconds. */
export const countMs = 1_500;
/** A cheaper count is made anew for each page. */
const costlyMs = 250;
const keptFor = 10;

export interface Total {
  /** Undefined when counting took longer than `countMs`. */
  rows: number | undefined;
}

/** Counts with `count`, or returns what it counted a moment ago for the same key. */
export type CountRows = (key: string, count: () => Promise<number>) => Promise<Total>;

export function createTotals(now = () => performance.now()): CountRows {
  const coalesce = createCoalesce();
  const kept = new LRUCache<string, { total: Total; until: number }>({ max: 2_000 });
  return async (key, count) => {
    const known = kept.get(key);
    if (known && known.until > now()) return known.total;
    return coalesce(key, async () => {
      const startedAt = now();
      const total = { rows: await inTime(count()) };
      const tookMs = now() - startedAt;
      if (tookMs > costlyMs) kept.set(key, { total, until: now() + tookMs * keptFor });
      return total;
    });
  };
}

async function inTime(counting: Promise<number>): Promise<number | undefined> {
  try {
    return await counting;
  } catch (error) {
    if (isTimeLimit(error)) return undefined;
    throw error;
  }
}
