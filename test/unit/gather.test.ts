// What is asked for together is served together, and each caller still hears of its own.
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { gather } from '../../activities/gather.js';

const doubled = async (items: number[]) => items.map((item) => item * 2);

describe('calls that are made together', () => {
  it('are served as one, in the order in which they came', async () => {
    const groups: number[][] = [];
    const join = gather(
      (items: number[]) => {
        groups.push(items);
        return doubled(items);
      },
      { max: 10, atOnce: 1 },
    );
    expect(await Promise.all([join(1), join(2), join(3)])).toEqual([2, 4, 6]);
    expect(groups).toEqual([[1, 2, 3]]);
  });

  it('are served when they come during another group, as the next one', async () => {
    const groups: number[][] = [];
    let finish = () => {};
    const join = gather(
      async (items: number[]) => {
        groups.push(items);
        if (groups.length === 1) await new Promise<void>((resolve) => (finish = resolve));
        return doubled(items);
      },
      { max: 10, atOnce: 1 },
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

  it('are refused when they waited too long behind somebody who does not answer, and served again afterwards', async () => {
    let begin = () => {};
    let finish = () => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const answer = new Promise<void>((resolve) => (finish = resolve));
    const join = gather(
      async (items: number[]) => {
        begin();
        if (items.includes(1)) await answer;
        return doubled(items);
      },
      { max: 10, atOnce: 1, patienceMs: 50 },
    );
    const hanging = join(1);
    await begun;
    const late = join(2);
    await sleep(100);
    const soon = join(3);
    finish();
    expect(await hanging).toBe(2);
    await expect(late).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await soon).toBe(6);
    expect(await join(4)).toBe(8);
  });

  it('are each answered with their own, never in groups above the bound, never more groups at once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 1, max: 3 }),
        fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 60 }),
        async (max, atOnce, pauses) => {
          let running = 0;
          const join = gather(
            async (items: number[]) => {
              running += 1;
              expect(items.length).toBeLessThanOrEqual(max);
              expect(running).toBeLessThanOrEqual(atOnce);
              await sleep(1);
              running -= 1;
              return doubled(items);
            },
            { max, atOnce },
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

  it('fail together when their group does, and nobody after it', async () => {
    let broken = true;
    const join = gather(
      async (items: number[]) => {
        if (broken) throw new Error('the database is away');
        return items;
      },
      { max: 10, atOnce: 1 },
    );
    const results = await Promise.allSettled([join(1), join(2)]);
    expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected']);
    broken = false;
    expect(await join(3)).toBe(3);
  });

  it('are refused when a group is not answered in full', async () => {
    const join = gather(async (_items: number[]) => [1], { max: 10, atOnce: 1 });
    const results = await Promise.allSettled([join(1), join(2)]);
    expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected']);
  });
});
