import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { driftOf } from '../../activities/recount.js';

const few = fc.integer({ min: 0, max: 20 });

describe('what a total is certainly wrong by', () => {
  it('is exactly what was lost while nobody enrolls', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000 }), fc.integer({ min: -1_000, max: 1_000 }), (members, lost) => {
        const total = members - lost;
        expect(driftOf({ before: total, counted: members, after: total })).toBe(lost);
      }),
    );
  });

  it('never corrects by more than what was lost, nor the other way, however many enroll meanwhile', () => {
    fc.assert(
      fc.property(
        fc.record({ lost: fc.integer({ min: -50, max: 50 }), underWay: few, duringCount: few, since: few }),
        ({ lost, underWay, duringCount, since }) => {
          const members = 1_000;
          const before = members - underWay - lost;
          const counted = members + duringCount;
          // All of those under way have reached the total when it is read again, and some who came since.
          const after = counted - lost + since;
          const drift = driftOf({ before, counted, after });
          expect(Math.abs(drift)).toBeLessThanOrEqual(Math.abs(lost));
          expect(drift * lost).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });
});
