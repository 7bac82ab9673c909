// The error of a total that a recount may correct although members enroll at the same time.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { driftOf } from '../../../activities/members/recount.activity.js';

const few = fc.integer({ min: 0, max: 20 });

describe('the certain error of a total', () => {
  it('is exactly the loss when nobody enrolls', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000 }), fc.integer({ min: -1_000, max: 1_000 }), (members, lost) => {
        const total = members - lost;
        expect(driftOf({ before: total, counted: members, after: total })).toBe(lost);
      }),
    );
  });

  it('never exceeds the loss and never has the opposite sign, for any number of concurrent enrollments', () => {
    fc.assert(
      fc.property(
        fc.record({ lost: fc.integer({ min: -50, max: 50 }), underWay: few, duringCount: few, since: few }),
        ({ lost, underWay, duringCount, since }) => {
          const members = 1_000;
          const before = members - underWay - lost;
          const counted = members + duringCount;
          // All enrollments under way and some later ones are included when the total is read again.
          const after = counted - lost + since;
          const drift = driftOf({ before, counted, after });
          expect(Math.abs(drift)).toBeLessThanOrEqual(Math.abs(lost));
          expect(drift * lost).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });
});
