// The version of a pass always increases, also when the clock is set back: a phone does not fetch a pass whose tag did
// not change.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextModified, nextTag } from '../../../schemas/shared/passUpdate.schema.js';

const moment = fc.integer({ min: 0, max: 4e12 }).map((ms) => new Date(ms));

describe('the tag of the next version', () => {
  it('is later than all before it, also when the clock runs backwards', () => {
    fc.assert(
      fc.property(fc.array(moment, { minLength: 1, maxLength: 30 }), (clock) => {
        let tag: Date | undefined;
        for (const now of clock) {
          const next = nextTag(tag, now);
          if (tag) expect(next.getTime()).toBeGreaterThan(tag.getTime());
          expect(next.getTime()).toBeGreaterThanOrEqual(now.getTime());
          tag = next;
        }
      }),
    );
  });

  it('is the present time when that is later', () => {
    expect(nextTag(new Date(1_000), new Date(2_000))).toEqual(new Date(2_000));
    expect(nextTag(undefined, new Date(2_000))).toEqual(new Date(2_000));
  });
});

describe('the Last-Modified of the next version', () => {
  it('is a whole second, and differs for each version', () => {
    fc.assert(
      fc.property(fc.array(moment, { minLength: 1, maxLength: 30 }), (clock) => {
        let modified: Date | undefined;
        for (const now of clock) {
          const next = nextModified(modified, now);
          expect(next.getTime() % 1_000).toBe(0);
          if (modified) expect(next.getTime()).toBeGreaterThan(modified.getTime());
          modified = next;
        }
      }),
    );
  });
});
