// A memory of one second for rows that only operators change. Callers must be able to live with a second's delay.
import { LRUCache } from 'lru-cache';

const rememberedMs = 1_000;

export function createRecent() {
  // Remembered while it is still loading, so that whoever asks meanwhile waits for the same.
  const cache = new LRUCache<string, Promise<object | null>>({ max: 5_000, ttl: rememberedMs });

  return async function recent<T extends object>(key: string, load: () => Promise<T | null>): Promise<T | null> {
    // The key says what was loaded under it, so the row has the type that this load has.
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
