// Works that run at the same time and are of use only together, such as the engines of a start.
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { allOrNone } from '../../../stack/allOrNone.js';

const never = new AbortController().signal;

test('the results of all works come in their order', async () => {
  const slow = new Promise<string>((resolve) => setTimeout(() => resolve('slow'), 20));
  expect(await allOrNone(never, () => [slow, Promise.resolve(2)])).toEqual(['slow', 2]);
});

test('a work that fails stops the others, and its error comes once all have ended', async () => {
  let ended = false;
  const running = allOrNone(never, (signal) => [
    once(signal, 'abort').then(() => {
      ended = true;
      throw new Error('stopped');
    }),
    Promise.reject(new Error('no linker')),
  ]);
  await expect(running).rejects.toThrow('no linker');
  expect(ended).toBe(true);
});

test('a stop from outside reaches every work', async () => {
  const outer = new AbortController();
  const running = allOrNone(outer.signal, (signal) => [once(signal, 'abort'), once(signal, 'abort')]);
  outer.abort();
  expect(await running).toHaveLength(2);
});
