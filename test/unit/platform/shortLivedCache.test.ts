// The short-lived cache of one second: one query for all concurrent callers, and no caching of missing rows.
import { describe, expect, it } from 'vitest';
import { createShortLivedCache } from '../../../platform/shortLivedCache.js';

describe('rows in the short-lived cache', () => {
  it('are queried once for all concurrent callers', async () => {
    const cached = createShortLivedCache();
    let asked = 0;
    const load = async () => {
      asked += 1;
      return { asked };
    };
    const answers = await Promise.all(Array.from({ length: 20 }, () => cached('a', load)));
    expect(answers).toEqual(Array(20).fill({ asked: 1 }));
    expect(await cached('a', load)).toEqual({ asked: 1 });
    expect(await cached('b', load)).toEqual({ asked: 2 });
  });

  it('are queried again once they are removed from the cache, also during a query', async () => {
    const cached = createShortLivedCache();
    let asked = 0;
    const load = async () => {
      asked += 1;
      return { asked };
    };
    const first = cached('a', load);
    cached.forget('a', 'unknown');
    expect(await Promise.all([first, cached('a', load), cached('a', load)])).toEqual(
      [1, 2, 2].map((at) => ({ asked: at })),
    );
  });

  it('are queried again when they were missing or the query failed', async () => {
    const cached = createShortLivedCache();
    expect(await cached('a', async () => null)).toBeNull();
    await expect(cached('a', () => Promise.reject(new Error('unavailable')))).rejects.toThrow('unavailable');
    expect(await cached('a', async () => ({ there: true }))).toEqual({ there: true });
  });
});
