import { setTimeout as sleep } from 'node:timers/promises';

/** The result of `work`, or `fallback` when it takes longer than `ms`; the work continues. */
export async function within<T, L>(work: Promise<T>, { ms, fallback }: { ms: number; fallback: L }): Promise<T | L> {
  const over = new AbortController();
  const limit = sleep(ms, fallback, { signal: over.signal });
  limit.catch(() => undefined);
  try {
    return await Promise.race([work, limit]);
  } finally {
    over.abort();
  }
}
