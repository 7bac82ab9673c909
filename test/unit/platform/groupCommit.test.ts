// The size of the groups that share a commit.
import { expect, it } from 'vitest';
import { nextGroupSize } from '../../../platform/mongodb/groupCommit.js';

it('halves after slow groups, down to 8 statements, and doubles after quick ones, up to 40', () => {
  const after = (...took: number[]) => took.reduce(nextGroupSize, 40);
  expect(after(500)).toBe(20);
  expect(after(500, 500, 500, 500, 500)).toBe(8);
  expect(after(500, 500, 100)).toBe(20);
  expect(after(500, 100, 100)).toBe(40);
});
