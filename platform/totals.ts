// Totals of lists. An expensive count is cached for ten times as long as it took, so that counting uses at most a tenth
// of a core, however often the list is read.
import { LRUCache } from 'lru-cache';
import type { Collection, Document, Filter } from 'mongodb';
import type { Config } from '../schemas/config.js';
import { createCoalesce } from './coalesce.js';
import { isTimeLimit } from './mongodb/isUnavailable.js';

const maxTimeMS = 1_500;
/** A cheaper count is repeated for each page. */
const costlyMs = 250;
const keptFor = 10;

/**
 * Counts the matching rows, up to LIST_MAX_ROWS, or returns the cached count. Undefined when counting takes longer than
 * 1.5 s.
 */
export type CountRows = <Row extends Document>(
  rows: Pick<Collection<Row>, 'collectionName' | 'countDocuments'>,
  where: Filter<Row>,
) => Promise<number | undefined>;

export function createTotals(
  { LIST_MAX_ROWS: limit }: Pick<Config, 'LIST_MAX_ROWS'>,
  now = () => performance.now(),
): CountRows {
  const coalesce = createCoalesce();
  const kept = new LRUCache<string, { total: number | undefined; until: number }>({ max: 2_000 });
  return async (rows, where) => {
    const key = `${rows.collectionName} ${JSON.stringify(where)}`;
    const known = kept.get(key);
    if (known && known.until > now()) return known.total;
    return coalesce(key, async () => {
      const startedAt = now();
      const total = await inTime(rows.countDocuments(where, { limit, maxTimeMS }));
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
