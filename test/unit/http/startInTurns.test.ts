// A burst of requests is started over several turns of the event loop, in order; a single request is started at once.
import type { Context } from 'koa';
import { expect, it } from 'vitest';
import { createStartInTurns } from '../../../api/http/startInTurns.js';

const ctx = {} as Context;

it('a single request starts at once', async () => {
  const startInTurn = createStartInTurns();
  for (let turn = 0; turn < 3; turn += 1) {
    let isStarted = false;
    const running = startInTurn(ctx, async () => {
      isStarted = true;
    });
    expect(isStarted).toBe(true);
    await running;
    await new Promise(setImmediate);
    await new Promise(setImmediate);
  }
});

it('a burst starts in order, at most 32 requests in one turn, and hanging requests do not delay others', async () => {
  const startInTurn = createStartInTurns();
  const started: number[] = [];
  for (let index = 0; index < 1_000; index += 1)
    void startInTurn(ctx, () => {
      started.push(index);
      return new Promise(() => {});
    });
  const sizes: number[] = [];
  let before = 0;
  while (started.length < 1_000 && sizes.length < 1_000) {
    sizes.push(started.length - before);
    before = started.length;
    await new Promise(setImmediate);
  }
  expect(started).toEqual(Array.from({ length: 1_000 }, (_, index) => index));
  expect(Math.max(...sizes)).toBe(32);
});

it('an error of a request affects only that request', async () => {
  const startInTurn = createStartInTurns();
  const results = await Promise.allSettled(
    Array.from({ length: 100 }, (_, index) =>
      startInTurn(ctx, async () => {
        if (index % 2 === 0) throw new Error('no');
      }),
    ),
  );
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(50);
});
