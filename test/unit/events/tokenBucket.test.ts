// The token bucket of admission control: never more tokens than its rate allows, for any arrivals.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTokenBucket } from '../../../api/http/admission.js';

function at(perSecond: number) {
  let now = 0;
  const take = createTokenBucket(perSecond, () => now);
  const taken = (times: number, awaited = true) =>
    Array.from({ length: times }, () => take(awaited)).filter(Boolean).length;
  return { taken, pass: (ms: number) => (now += ms) };
}

describe('the token bucket for workflows', () => {
  it('gives twice its rate at once to changes whose answer waits, and then its rate', () => {
    const bucket = at(20);
    expect(bucket.taken(100)).toBe(40);
    bucket.pass(1_000);
    expect(bucket.taken(100)).toBe(20);
    bucket.pass(50);
    expect(bucket.taken(100)).toBe(1);
  });

  it('saves at most twice its rate, however long it is idle', () => {
    const bucket = at(20);
    bucket.pass(86_400_000);
    expect(bucket.taken(1_000)).toBe(40);
  });

  it('gives nothing at a rate of zero', () => {
    const bucket = at(0);
    bucket.pass(60_000);
    expect(bucket.taken(10)).toBe(0);
  });

  it('gives none to other changes while more of them arrive than tokens, and some again afterwards', () => {
    const bucket = at(20);
    expect(bucket.taken(500, false)).toBe(10);
    for (let second = 0; second < 5; second += 1) {
      bucket.pass(1_000);
      expect(bucket.taken(500, false)).toBe(0);
    }
    expect(bucket.taken(10, true)).toBe(10);
    bucket.pass(10_000);
    expect(bucket.taken(10, false)).toBe(10);
  });

  it('gives one to every other change while they arrive more slowly than its rate', () => {
    const bucket = at(20);
    for (let half = 0; half < 120; half += 1) {
      expect(bucket.taken(9, false)).toBe(9);
      bucket.pass(500);
    }
  });

  it('never gives more than its first fill and its rate', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.array(fc.tuple(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 200 }), fc.boolean()), {
          maxLength: 50,
        }),
        (perSecond, steps) => {
          const bucket = at(perSecond);
          let total = 0;
          let passed = 0;
          for (const [ms, asked, awaited] of steps) {
            bucket.pass(ms);
            passed += ms;
            total += bucket.taken(asked, awaited);
          }
          expect(total).toBeLessThanOrEqual(perSecond * 2 + (passed * perSecond) / 1_000 + 1e-6);
        },
      ),
    );
  });
});
