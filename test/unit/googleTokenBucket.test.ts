import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTokenBucket } from '../../activities/google/tokenBucket.js';
import { createFakeClock } from '../rig/fakeClock.js';

/** Most of the given moments within any 1,000 ms. */
function busiestSecond(times: number[]): number {
  return Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + 1_000).length));
}

describe('the bucket of Google requests', () => {
  it('lets the first request go at once and the nineteenth after a second', async () => {
    const clock = createFakeClock();
    const bucket = createTokenBucket({ clock });
    const times: number[] = [];
    const all = Promise.all(Array.from({ length: 19 }, () => bucket.take().then(() => times.push(clock.now()))));
    await clock.advance(0);
    expect(times).toEqual([0]);
    await clock.advance(999);
    expect(times).toHaveLength(18);
    await clock.advance(2);
    await all;
    expect(times).toHaveLength(19);
  });

  it('serves whoever came first, first', async () => {
    const clock = createFakeClock();
    const bucket = createTokenBucket({ clock });
    const order: number[] = [];
    const all = Promise.all(
      Array.from({ length: 60 }, (_, who) => bucket.take(1 + (who % 3)).then(() => order.push(who))),
    );
    await clock.advance(10_000);
    await all;
    expect(order).toEqual(Array.from({ length: 60 }, (_, who) => who));
  });

  it('saves nothing up: after a quiet hour no second holds more than the others', async () => {
    const clock = createFakeClock();
    const bucket = createTokenBucket({ clock });
    await bucket.take();
    await clock.advance(3_600_000);
    const times: number[] = [];
    const all = Promise.all(Array.from({ length: 40 }, () => bucket.take().then(() => times.push(clock.now()))));
    await clock.advance(3_000);
    await all;
    expect(busiestSecond(times)).toBe(18);
  });

  it('counts a request for several as several', async () => {
    const clock = createFakeClock();
    const bucket = createTokenBucket({ clock });
    const times: number[] = [];
    const all = Promise.all([bucket.take(18), bucket.take(18)].map((turn) => turn.then(() => times.push(clock.now()))));
    await clock.advance(5_000);
    await all;
    expect(times[0]).toBeCloseTo(17 * 55.556, 6);
    expect(times[1]).toBeCloseTo(35 * 55.556, 6);
  });

  it('never lets more through in any second, and always lets everyone through', async () => {
    const arrivals = fc.array(fc.nat({ max: 400 }), { minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(arrivals, fc.integer({ min: 1, max: 50 }), async (pauses, perSecond) => {
        const clock = createFakeClock();
        const bucket = createTokenBucket({ clock, perSecond });
        const times: number[] = [];
        const turns: Promise<unknown>[] = [];
        for (const pause of pauses) {
          await clock.advance(pause);
          turns.push(bucket.take().then(() => times.push(clock.now())));
        }
        await clock.advance((pauses.length / perSecond) * 1_000 + 1_000);
        await Promise.all(turns);
        expect(times).toHaveLength(pauses.length);
        expect(busiestSecond(times)).toBeLessThanOrEqual(perSecond);
      }),
      { numRuns: 30 },
    );
  });
});
