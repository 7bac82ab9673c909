// A memory of one second for rows that only operators change. Callers must be able to live with a second's delay.
import { LRUCache } from 'lru-cache';

const rememberedMs = 1_000;

export function createRecent() {
  const cache = new LRUCache<string, { row: object }>({ max: 5_000, ttl: rememberedMs });

  return async function recent<T extends object>(key: string, load: () => Promise<T | null>): Promise<T | null> {
    const known = cache.get(key);
    // The key says what was loaded under it, so the row has the type that this load has.
    if (known) return known.row as T;
    const row = await load();
    if (row) cache.set(key, { row });
    return row;
  };
}
