// The spread of a bench scenario over its rounds.
import { expect, test } from 'vitest';
import { ratiosOf } from '../../bench/row.js';

test('the spread of a scenario is the smallest, middle and largest ratio of its rounds', () => {
  expect(ratiosOf([2, 0.5, 10])).toEqual({ min: 0.5, median: 2, max: 10, rounds: 3 });
  expect(ratiosOf([4, 1, 2, 10])).toEqual({ min: 1, median: 3, max: 10, rounds: 4 });
});

test('a single round has no spread', () => {
  expect(ratiosOf([2])).toBeUndefined();
  expect(ratiosOf([])).toBeUndefined();
});
