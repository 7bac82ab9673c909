// A bulk in pieces is the same bulk.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { pieces } from '../../activities/pieces.js';

it('pieces are never empty nor too large, and together what they were made of', () => {
  fc.assert(
    fc.property(fc.array(fc.nat()), fc.integer({ min: 1, max: 20 }), (all, size) => {
      const made = pieces(all, size);
      expect(made.flat()).toEqual(all);
      for (const { length } of made.slice(0, -1)) expect(length).toBe(size);
      for (const { length } of made) expect(length).toBeGreaterThan(0);
    }),
  );
});
