import { setTimeout as sleep } from 'node:timers/promises';

/** What `work` results in, or `late` when that takes longer than `ms`; the work goes on. */
export async function within<T, L>(work: Promise<T>, { ms, late }: { ms: number; late: L }): Promise<T | L> {
  const over = new AbortController();
  const limit = sleep(ms, late, { signal: over.signal });
  limit.catch(() => undefined);
  try {
    return await Promise.race([work, limit]);
  } finally {
    over.abort();
  }
}
