// Totals of lists. An expensive count is cached for ten times as long as it took, so that counting uses at most a tenth
// of a core, however often the list is read. A page never waits for a count of a list that is too long to count.
import { LRUCache } from 'lru-cache';
import type { Collection, Document, Filter } from 'mongodb';
import type { Config } from '../schemas/shared/config.schema.js';
import { createCoalesce } from './coalesce.js';
import { isTimeLimit } from './mongodb/isUnavailable.js';
import { within } from './within.js';

/** The limit of a count, at the server and for the caller. */
const maxTimeMS = 500;
/** A cheaper count is repeated for each page. */
const costlyMs = 250;
const keptFor = 10;
/** After this time, a count that exceeded its limit is tried again. */
const againMs = 60_000;

/**
 * Counts the matching rows, up to LIST_MAX_ROWS, or returns the cached count. Undefined when counting takes longer than
 * half a second.
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
  const cached = (key: string) => {
    const known = kept.get(key);
    return known && known.until > now() ? known : undefined;
  };
  return async (rows, where) => {
    const key = `${rows.collectionName} ${JSON.stringify(where)}`;
    const count = async () => {
      const startedAt = now();
      const total = await inTime(rows.countDocuments(where, { limit, maxTimeMS }));
      const tookMs = now() - startedAt;
      const forMs = total === undefined ? againMs : tookMs * keptFor;
      if (tookMs > costlyMs) kept.set(key, { total, until: now() + forMs });
      return { total };
    };
    // Looked up again in its turn, because the count before it may have been cached meanwhile.
    const { total } = cached(key) ?? (await coalesce(key, async () => cached(key) ?? count()));
    return total;
  };
}

/** An engine may notice the limit late; then the count goes on without its caller. */
async function inTime(counting: Promise<number>): Promise<number | undefined> {
  try {
    return await within(counting, { ms: maxTimeMS + 100, fallback: undefined });
  } catch (error) {
    if (isTimeLimit(error)) return undefined;
    throw error;
  }
}
