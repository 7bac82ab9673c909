// Concurrent calls are served in one batch, and each caller gets its own result.
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { MongoOperationTimeoutError } from 'mongodb';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createBatcher } from '../../../platform/batcher.js';

const doubled = async (items: number[]) => items.map((item) => item * 2);

/** Where a wait has a limit, the clock is the test's own: a pause of this process is then no wait. */
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

afterEach(() => void vi.useRealTimers());

describe('concurrent calls', () => {
  it('are served as one batch, in the order of their arrival', async () => {
    const groups: number[][] = [];
    const join = createBatcher(
      (items: number[]) => {
        groups.push(items);
        return doubled(items);
      },
      { batchSize: 10, concurrency: 1 },
    );
    expect(await Promise.all([join(1), join(2), join(3)])).toEqual([2, 4, 6]);
    expect(groups).toEqual([[1, 2, 3]]);
  });

  it('that arrive during another batch are served as the next one', async () => {
    const groups: number[][] = [];
    let finish = () => {};
    const join = createBatcher(
      async (items: number[]) => {
        groups.push(items);
        if (groups.length === 1) await new Promise<void>((resolve) => (finish = resolve));
        return doubled(items);
      },
      { batchSize: 10, concurrency: 1 },
    );
    const first = join(1);
    await sleep(5);
    const later = [join(2), join(3)];
    await sleep(5);
    expect(groups).toEqual([[1]]);
    finish();
    expect(await Promise.all([first, ...later])).toEqual([2, 4, 6]);
    expect(groups).toEqual([[1], [2, 3]]);
  });

  it('are refused after too long a wait behind a batch that hangs, and later calls are served again', async () => {
    vi.useFakeTimers();
    const join = createBatcher(
      async (items: number[]) => {
        if (items.includes(1)) await pause(100);
        return doubled(items);
      },
      { batchSize: 10, concurrency: 1, maxWaitMs: 50 },
    );
    const hanging = join(1);
    await vi.advanceTimersByTimeAsync(40);
    const late = join(2);
    await vi.advanceTimersByTimeAsync(59);
    const soon = join(3);
    const answers = Promise.allSettled([hanging, late, soon]);
    await vi.runAllTimersAsync();
    const refused = { status: 'rejected', reason: { code: 'UNAVAILABLE' } };
    expect(await answers).toMatchObject([{ value: 2 }, refused, { value: 6 }]);
    const next = join(4);
    await vi.runAllTimersAsync();
    expect(await next).toBe(8);
  });

  it('keep waiting when one batch timed out and another was answered in the meantime', async () => {
    vi.useFakeTimers();
    const timedOut = new MongoOperationTimeoutError('the statement timed out');
    const join = createBatcher(
      async (items: number[]) => {
        await pause(items.includes(1) ? 60 : 20);
        if (items.includes(1)) throw timedOut;
        return doubled(items);
      },
      { batchSize: 1, concurrency: 2, maxWaitMs: 1_000 },
    );
    const answers = Promise.allSettled([1, 2, 3, 4, 5, 6].map((item) => join(item)));
    await vi.runAllTimersAsync();
    const results = await answers;
    expect(results.map(({ status }) => status)).toEqual(['rejected', ...Array(5).fill('fulfilled')]);
  });

  it('are refused when a batch timed out and none was answered in the meantime', async () => {
    const join = createBatcher(
      async (items: number[]) => {
        await sleep(20);
        if (items.includes(1)) throw new MongoOperationTimeoutError('the statement timed out');
        return doubled(items);
      },
      { batchSize: 1, concurrency: 1 },
    );
    const results = await Promise.allSettled([1, 2, 3].map((item) => join(item)));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(await join(4)).toBe(8);
  });

  it('share a batch up to its size, which is evaluated for each batch', async () => {
    const groups: number[][] = [];
    let size = 4;
    const join = createBatcher(
      (items: number[]) => {
        groups.push(items);
        size = 2;
        return doubled(items);
      },
      { batchSize: () => size, sizeOf: (item) => item, concurrency: 1 },
    );
    await Promise.all([1, 3, 1, 1, 5].map((item) => join(item)));
    expect(groups).toEqual([[1, 3], [1, 1], [5]]);
  });

  it('wait for their turn as long as batches are answered, however long that takes', async () => {
    vi.useFakeTimers();
    const join = createBatcher(
      async (items: number[]) => {
        await pause(200);
        return doubled(items);
      },
      { batchSize: 2, concurrency: 1, maxWaitMs: 201 },
    );
    const calls = Array.from({ length: 100 }, (_, index) => index);
    const answers = Promise.all(calls.map(join));
    await vi.runAllTimersAsync();
    expect(await answers).toEqual(calls.map((index) => index * 2));
  });

  it('each get their own result, within the limits of batch size and concurrency', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 1, max: 3 }),
        fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 60 }),
        async (batchSize, concurrency, pauses) => {
          let running = 0;
          const join = createBatcher(
            async (items: number[]) => {
              running += 1;
              expect(items.length).toBeLessThanOrEqual(batchSize);
              expect(running).toBeLessThanOrEqual(concurrency);
              await sleep(1);
              running -= 1;
              return doubled(items);
            },
            { batchSize, concurrency },
          );
          const answers: Promise<number>[] = [];
          for (const [index, pause] of pauses.entries()) {
            if (pause === 0) await sleep(0);
            answers.push(join(index));
          }
          expect(await Promise.all(answers)).toEqual(pauses.map((_, index) => index * 2));
        },
      ),
      { numRuns: 25 },
    );
  });

  it('fail together with their batch, and no later call fails', async () => {
    let broken = true;
    const join = createBatcher(
      async (items: number[]) => {
        if (broken) throw new Error('the database is unavailable');
        return items;
      },
      { batchSize: 10, concurrency: 1 },
    );
    const results = await Promise.allSettled([join(1), join(2)]);
    expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected']);
    broken = false;
    expect(await join(3)).toBe(3);
  });

  it('are refused when a batch does not return a result for each call', async () => {
    const join = createBatcher(async (_items: number[]) => [1], { batchSize: 10, concurrency: 1 });
    const results = await Promise.allSettled([join(1), join(2)]);
    expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected']);
  });
});
