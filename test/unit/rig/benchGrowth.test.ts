// The growth of the lines of the bench.
import { expect, test } from 'vitest';
import { exponentOf, growthRow, limitOf, measureGrowth, sizesOf } from '../../bench/growth.js';
import type { Row } from '../../bench/row.js';

const few = (cost: number) => ({ size: 10_000, cost });
const many = (cost: number) => ({ size: 1_000_000, cost });
const line = { name: 'GET member', unit: 'ms', of: 'one' } as const;
const at = (size: number, ours: number, yardstick: number | null = 1) => ({ size, ours, yardstick });

test('the exponent of a growth is that of the work of all, of which each does one', () => {
  expect(exponentOf('one', few(2), many(2))).toBe(1);
  expect(exponentOf('one', few(2), many(200))).toBeCloseTo(2);
  expect(exponentOf('all', few(2), many(200))).toBeCloseTo(1);
  expect(exponentOf('all', few(0), many(200))).toBeUndefined();
});

test('a cost of each that grows like the logarithm is within the limit, also from one on', () => {
  expect(limitOf(10_000, 1_000_000)).toBeCloseTo(1.08);
  expect(limitOf(1, 50)).toBeCloseTo(1.48);
});

test('a line that grows faster than n log n misses its goal, and its row says whether its yardstick does, too', () => {
  expect(growthRow(line, 'members', [at(10_000, 2), at(100_000, 3), at(1_000_000, 2.5)])).toMatchObject({
    scenario: 'GET member, ms, 10,000 to 1,000,000 members: growth',
    ours: 1.05,
    yardstick: 1,
    goal: '<= 1.08',
    reached: true,
  });
  const scan = growthRow(line, 'members', [at(10_000, 2), at(1_000_000, 60)]);
  expect(scan).toMatchObject({ ours: 1.74, reached: false, note: 'Grows faster than n log n.' });
  const both = growthRow(line, 'members', [at(10_000, 2), at(1_000_000, 60, 50)]);
  expect(both.note).toBe('Grows faster than n log n, as its yardstick does.');
});

test('a line of one size is its cost', () => {
  const row = growthRow(line, 'members', [at(10_000, 2, null)]);
  expect(row).toMatchObject({ scenario: 'GET member, ms, 10,000 members', ours: 2, yardstick: null, goal: 'none' });
  expect(row.reached).toBeUndefined();
});

test('the rows are reported after each measurement', async () => {
  const reported: Row[][] = [];
  const rows = await measureGrowth(
    { soFar: (known) => reported.push(known) },
    {
      what: 'members',
      sizes: [10, 100],
      at: async (size) => ({
        lines: ['one', 'two'].map((name) => ({
          ...{ name, unit: 'ms', of: 'one' as const },
          measure: async () => ({ ours: size, yardstick: null }),
        })),
        close: async () => {},
      }),
    },
  );
  expect(reported.map((known) => known.map(({ sizes }) => sizes?.length))).toEqual([[1], [1, 1], [2, 1], [2, 2]]);
  expect(rows).toEqual(reported.at(-1));
  expect(rows.map(({ ours }) => ours)).toEqual([2, 2]);
});

test('sizes are positive whole numbers, in ascending order', () => {
  expect(sizesOf('50,1,10,10')).toEqual([1, 10, 50]);
  for (const wrong of ['0', '1,', 'many', '-5', '1.5']) expect(() => sizesOf(wrong)).toThrow('are not sizes');
});
