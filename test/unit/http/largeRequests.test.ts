// Turns of large requests: so many of one merchant, so many in all, and a clear refusal after a wait.
import { describe, expect, it } from 'vitest';
import { createLargeRequests } from '../../../api/http/largeRequests.js';

const config = { MERCHANT_MAX_LARGE_REQUESTS: 2 };
const codeOf = (refused: Promise<unknown>) =>
  refused.then(
    () => 'begun',
    (error: { code: string; details?: unknown }) => [error.code, error.details],
  );
const ownLimit = ['RATE_LIMITED', { limit: 'MERCHANT_MAX_LARGE_REQUESTS', max: 2, retryAfterSeconds: 5 }];

describe('large requests', () => {
  it('of one merchant wait for each other, and are refused after a while; those of another go on', async () => {
    const turns = createLargeRequests({ config }, { total: 8, maxWaitMs: 20 });
    const ends = [await turns.begin('one'), await turns.begin('one')];
    expect(await codeOf(turns.begin('one'))).toEqual(ownLimit);
    const waiting = turns.begin('one');
    expect(await codeOf(turns.begin('other'))).toBe('begun');
    ends[0]?.();
    expect(await codeOf(waiting)).toBe('begun');
  });

  it('of many merchants have a bound together, which is not the fault of any', async () => {
    const turns = createLargeRequests({ config }, { total: 3, maxWaitMs: 20 });
    const ends = [];
    for (const merchantId of ['a', 'b', 'c']) ends.push(await turns.begin(merchantId));
    expect(await codeOf(turns.begin('d'))).toEqual(['UNAVAILABLE', undefined]);
    for (const end of ends) end();
    expect(await codeOf(turns.begin('d'))).toBe('begun');
  });

  it('that fail give their turn back, with their own error', async () => {
    const turns = createLargeRequests({ config: { MERCHANT_MAX_LARGE_REQUESTS: 1 } }, { maxWaitMs: 20 });
    for (let times = 0; times < 3; times += 1)
      await expect(turns.run('one', () => Promise.reject(new Error('own')))).rejects.toThrow('own');
    expect(await turns.run('one', async () => 7)).toBe(7);
  });
});
