// Caches rows that only operators change for one second. Callers must accept data that is up to one second old.
import { LRUCache } from 'lru-cache';

const ttlMs = 1_000;

export function createShortLivedCache() {
  // The promise is cached, so that calls made during a load share its result.
  const cache = new LRUCache<string, Promise<object | null>>({ max: 5_000, ttl: ttlMs });

  return async function cached<T extends object>(key: string, load: () => Promise<T | null>): Promise<T | null> {
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
  };
}
