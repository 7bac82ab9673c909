// Totals of lists that are counted repeatedly.
import { MongoServerError } from 'mongodb';
import { expect, it } from 'vitest';
import { createTotals } from '../../../platform/totals.js';

const config = { LIST_MAX_ROWS: 100 };

/** A clock on which each count takes `tookMs`. */
function counting(tookMs: number) {
  let at = 0;
  let counts = 0;
  const countRows = createTotals(config, () => at);
  const list = {
    collectionName: 'list',
    async countDocuments() {
      counts += 1;
      at += tookMs;
      if (tookMs > 500) throw new MongoServerError({ message: 'operation exceeded time limit', code: 50 });
      return counts;
    },
  };
  return {
    read: () => countRows(list, {}),
    pass: (ms: number) => {
      at += ms;
    },
    counts: () => counts,
  };
}

it('a cheap count is made for each page', async () => {
  const { read } = counting(100);
  expect([await read(), await read()]).toEqual([1, 2]);
});

it('an expensive count is cached for ten times as long as it took', async () => {
  const { read, pass, counts } = counting(300);
  await read();
  pass(2_900);
  expect(await read()).toBe(1);
  pass(200);
  expect(await read()).toBe(2);
  expect(counts()).toBe(2);
});

it('a count that exceeds its time limit has no result, and is not tried again at once', async () => {
  const { read, pass, counts } = counting(600);
  expect([await read(), await read()]).toEqual([undefined, undefined]);
  pass(59_000);
  expect([await read(), counts()]).toEqual([undefined, 1]);
  pass(2_000);
  expect([await read(), counts()]).toEqual([undefined, 2]);
});

it('a count that the engine does not end is not waited for', async () => {
  const list = { collectionName: 'list', countDocuments: () => new Promise<number>(() => {}) };
  expect(await createTotals(config)(list, {})).toBeUndefined();
});

it('an expensive count serves those who asked while it ran', async () => {
  const { read, counts } = counting(300);
  expect(await Promise.all([read(), read(), read()])).toEqual([1, 1, 1]);
  expect(counts()).toBe(1);
});

it('a count that fails for another reason fails', async () => {
  const list = { collectionName: 'list', countDocuments: () => Promise.reject(new Error('no')) };
  await expect(createTotals(config)(list, {})).rejects.toThrow('no');
});
