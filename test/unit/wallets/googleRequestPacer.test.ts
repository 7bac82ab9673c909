// The request pacer in one process: evenly spaced, in order of arrival, never above the rate.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRequestPacer } from '../../../activities/wallets/google/requestPacer.client.js';
import { createFakeClock } from '../../rig/standins/fakeClock.js';

/** The largest number of the given times within 1,000 ms. */
function busiestSecond(times: number[]): number {
  return Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + 1_000).length));
}

describe('the pacer of Google requests', () => {
  it('admits the first request at once and the nineteenth after a second', async () => {
    const clock = createFakeClock();
    const pacer = createRequestPacer({ clock });
    const times: number[] = [];
    const all = Promise.all(Array.from({ length: 19 }, () => pacer.take().then(() => times.push(clock.now()))));
    await clock.advance(0);
    expect(times).toEqual([0]);
    await clock.advance(999);
    expect(times).toHaveLength(18);
    await clock.advance(2);
    await all;
    expect(times).toHaveLength(19);
  });

  it('serves requests in the order of their arrival', async () => {
    const clock = createFakeClock();
    const pacer = createRequestPacer({ clock });
    const order: number[] = [];
    const all = Promise.all(
      Array.from({ length: 60 }, (_, who) => pacer.take(1 + (who % 3)).then(() => order.push(who))),
    );
    await clock.advance(10_000);
    await all;
    expect(order).toEqual(Array.from({ length: 60 }, (_, who) => who));
  });

  it('saves up nothing: after an idle hour no second has more than the others', async () => {
    const clock = createFakeClock();
    const pacer = createRequestPacer({ clock });
    await pacer.take();
    await clock.advance(3_600_000);
    const times: number[] = [];
    const all = Promise.all(Array.from({ length: 40 }, () => pacer.take().then(() => times.push(clock.now()))));
    await clock.advance(3_000);
    await all;
    expect(busiestSecond(times)).toBe(18);
  });

  it('counts a request for several items as several', async () => {
    const clock = createFakeClock();
    const pacer = createRequestPacer({ clock });
    const times: number[] = [];
    const all = Promise.all([pacer.take(18), pacer.take(18)].map((turn) => turn.then(() => times.push(clock.now()))));
    await clock.advance(5_000);
    await all;
    expect(times[0]).toBeCloseTo(17 * 55.556, 6);
    expect(times[1]).toBeCloseTo(35 * 55.556, 6);
  });

  it('never admits more in any second, and finally admits every request', async () => {
    const arrivals = fc.array(fc.nat({ max: 400 }), { minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(arrivals, fc.integer({ min: 1, max: 50 }), async (pauses, perSecond) => {
        const clock = createFakeClock();
        const pacer = createRequestPacer({ clock, perSecond });
        const times: number[] = [];
        const turns: Promise<unknown>[] = [];
        for (const pause of pauses) {
          await clock.advance(pause);
          turns.push(pacer.take().then(() => times.push(clock.now())));
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
