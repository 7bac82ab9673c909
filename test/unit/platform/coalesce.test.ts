// Concurrent callers share one read, and no caller gets a read that began before its call.
import { expect, it } from 'vitest';
import { createCoalesce } from '../../../platform/coalesce.js';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

it('gives callers during a read the result of one read that begins after it', async () => {
  const coalesce = createCoalesce();
  let begun = 0;
  const ends: (() => void)[] = [];
  const read = () =>
    new Promise<number>((resolve) => {
      begun += 1;
      const mine = begun;
      ends.push(() => resolve(mine));
    });
  const first = coalesce('key', read);
  const others = [coalesce('key', read), coalesce('key', read), coalesce('key', read)];
  expect(begun).toBe(1);
  ends[0]?.();
  expect(await first).toBe(1);
  await turn();
  expect(begun).toBe(2);
  const late = coalesce('key', read);
  ends[1]?.();
  expect(await Promise.all(others)).toEqual([2, 2, 2]);
  await turn();
  ends[2]?.();
  expect(await late).toBe(3);
});

it('separates keys, and reads again after a failure', async () => {
  const coalesce = createCoalesce();
  const [one, other] = await Promise.all([coalesce('one', async () => 1), coalesce('other', async () => 2)]);
  expect([one, other]).toEqual([1, 2]);
  const failed = coalesce('one', () => Promise.reject(new Error('unavailable')));
  const next = coalesce('one', async () => 3);
  await expect(failed).rejects.toThrow('unavailable');
  expect(await next).toBe(3);
  expect(await coalesce('one', async () => 4)).toBe(4);
});
