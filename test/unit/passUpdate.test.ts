// The version of a pass always moves forward, whatever the clock does (facts of Apple's web service: a tag that does not
// move is a phone that does not fetch).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextModified, nextTag } from '../../schemas/passUpdate.js';

const moment = fc.integer({ min: 0, max: 4e12 }).map((ms) => new Date(ms));

describe('the tag of the next version', () => {
  it('is later than every one before it, when clocks run back too', () => {
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

  it('is now wherever that is later', () => {
    expect(nextTag(new Date(1_000), new Date(2_000))).toEqual(new Date(2_000));
    expect(nextTag(undefined, new Date(2_000))).toEqual(new Date(2_000));
  });
});

describe('the Last-Modified of the next version', () => {
  it('is a whole second, and another one for each version', () => {
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
