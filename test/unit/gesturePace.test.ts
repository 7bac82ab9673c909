// How much longer gestures take beside bulk work: what is said of it, and when nothing is.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createGesturePace } from '../../api/gesturePace.js';

/** A pace whose clock moves by hand. */
function aPace() {
  const pace = createGesturePace();
  let nowMs = 0;
  return {
    took: (times: number[], besideBulk: boolean) =>
      pace.took(
        times.map((ms) => ({ ms, endedAt: nowMs })),
        besideBulk,
      ),
    slowdown: () => pace.slowdown(nowMs),
    pass(ms: number) {
      nowMs += ms;
    },
  };
}

const times = (count: number, ms: number): number[] => Array.from({ length: count }, () => ms);

describe('the pace of gestures', () => {
  it('is as ever while nothing is known of one or the other, or too little', () => {
    const { took, slowdown } = aPace();
    expect(slowdown()).toBe(1);
    took(times(9, 4), false);
    took(times(50, 400), true);
    expect(slowdown()).toBe(1);
    took(times(1, 4), false);
    expect(slowdown()).toBe(100);
  });

  it('is what the slowest tenth takes, in times of what it takes otherwise', () => {
    const { took, slowdown } = aPace();
    took([...times(8, 4), ...times(2, 10)], false);
    took([...times(8, 4), ...times(2, 30)], true);
    expect(slowdown()).toBe(3);
  });

  it('is not told by one that was slow, however slow', () => {
    const { took, slowdown } = aPace();
    took(times(40, 4), false);
    took([...times(19, 4), 60_000], true);
    expect(slowdown()).toBe(1);
  });

  it('says nothing of now by what was seconds ago', () => {
    const { took, slowdown, pass } = aPace();
    took(times(40, 4), false);
    took(times(40, 8), true);
    pass(5_000);
    expect(slowdown()).toBe(2);
    pass(1);
    expect(slowdown()).toBe(1);
  });

  it('comes to terms with engines that have become slower for good', () => {
    const { took, slowdown } = aPace();
    took(times(300, 4), false);
    took(times(40, 16), true);
    expect(slowdown()).toBe(4);
    took(times(290, 16), false);
    expect(slowdown()).toBe(1);
  });

  it('grows with what gestures take beside bulk, and shrinks with what they take otherwise', () => {
    const some = fc.array(fc.double({ min: 0.1, max: 60_000, noNaN: true }), { minLength: 10, maxLength: 200 });
    const factor = fc.double({ min: 1, max: 100, noNaN: true });
    fc.assert(
      fc.property(some, some, factor, (otherwise, beside, by) => {
        const slowdownOf = (usual: number[], now: number[]) => {
          const { took, slowdown } = aPace();
          took(usual, false);
          took(now, true);
          return slowdown();
        };
        const more = (all: number[]) => all.map((ms) => ms * by);
        const known = slowdownOf(otherwise, beside);
        expect(known).toBeGreaterThan(0);
        expect(slowdownOf(otherwise, more(beside)) / known).toBeCloseTo(by, 5);
        expect(slowdownOf(more(otherwise), beside) / known).toBeCloseTo(1 / by, 5);
      }),
    );
  });
});
