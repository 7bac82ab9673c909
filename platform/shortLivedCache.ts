// Caches rows that change rarely for one second. Callers must accept data that is up to one second old. The process
// that changes a row removes it from its cache, so that it sees its own change at once. Not `fetch` of lru-cache: its
// second begins after the load, and `forget` fails a load that finds no row.
import { LRUCache } from 'lru-cache';

export const cachedForMs = 1_000;

export interface ShortLivedCache {
  <T extends object>(key: string, load: () => Promise<T | null>): Promise<T | null>;
  forget: (...keys: string[]) => void;
}

export function createShortLivedCache(): ShortLivedCache {
  // The promise is cached, so that calls made during a load share its result.
  const cache = new LRUCache<string, Promise<object | null>>({ max: 5_000, ttl: cachedForMs });

  async function cached<T extends object>(key: string, load: () => Promise<T | null>): Promise<T | null> {
    // A key is always used with the same type of row.
    const known = cache.get(key) as Promise<T | null> | undefined;
    if (known) return known;
    const loading = load();
    cache.set(key, loading);
    const forget = () => {
      if (cache.peek(key) === loading) cache.delete(key);
    };
    loading.then((row) => row ?? forget(), forget);
    return loading;
  }

  return Object.assign(cached, {
    forget(...keys: string[]) {
      for (const key of keys) cache.delete(key);
    },
  });
}
