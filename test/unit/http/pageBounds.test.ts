// The bound of a page always includes the rows of the page, and is as narrow as earlier reads allow.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createPageBounds } from '../../../platform/mongodb/embeddedEngine.js';

const at = (seconds: number) => new Date(seconds * 1_000);

it('a page is bounded by the nearest earlier read at its depth or deeper, in the same list only', () => {
  const depths = createPageBounds();
  depths.note('one', 100, at(10));
  depths.note('one', 25, at(40));
  expect(depths.since('one', 25)).toEqual(at(40));
  expect(depths.since('one', 26)).toEqual(at(10));
  expect(depths.since('one', 101)).toBeUndefined();
  expect(depths.since('other', 25)).toBeUndefined();
});

it('after any reads and inserts, the bound of a page includes all rows of the page', () => {
  const steps = fc.array(
    fc.oneof(fc.record({ add: fc.nat(30) }), fc.record({ read: fc.integer({ min: 1, max: 40 }) })),
  );
  fc.assert(
    fc.property(steps, (taken) => {
      const depths = createPageBounds();
      // Newest first; some rows have the same time.
      const rows: number[] = [];
      for (const step of taken) {
        if ('add' in step) for (let more = 0; more < step.add; more += 1) rows.unshift(Math.ceil(rows.length / 3));
        else {
          const since = depths.since('list', step.read);
          const bounded = rows.filter((row) => !since || row >= since.getTime() / 1_000);
          expect(bounded.slice(0, step.read)).toEqual(rows.slice(0, step.read));
          const last = rows[step.read - 1];
          if (last !== undefined) depths.note('list', step.read, at(last));
        }
      }
    }),
  );
});
