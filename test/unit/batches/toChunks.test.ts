// The chunks of a list contain the same items in the same order.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toChunks } from '../../../platform/toChunks.js';

it('chunks are never empty or too large, and together equal the list', () => {
  fc.assert(
    fc.property(fc.array(fc.nat()), fc.integer({ min: 1, max: 20 }), (all, size) => {
      const made = toChunks(all, size);
      expect(made.flat()).toEqual(all);
      for (const { length } of made.slice(0, -1)) expect(length).toBe(size);
      for (const { length } of made) expect(length).toBeGreaterThan(0);
    }),
  );
});
