// Many small writes go out as one, and each caller still hears of its own.
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { coalesce } from '../../activities/coalesce.js';

describe('writes that are asked for together', () => {
  it('go out as one, in the order in which they were asked for', async () => {
    const write = vi.fn(async (_group: number[]) => {});
    const join = coalesce(write, { waitMs: 5, max: 100 });
    await Promise.all([join(1), join(2), join(3)]);
    expect(write.mock.calls).toEqual([[[1, 2, 3]]]);
  });

  it('go out at once when enough have come together, and none is written twice or lost', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 0, max: 60 }), async (max, count) => {
        const written: number[] = [];
        const join = coalesce<number>(async (group) => void written.push(...group), { waitMs: 1, max });
        await Promise.all(Array.from({ length: count }, (_, item) => join(item)));
        expect(written).toEqual(Array.from({ length: count }, (_, item) => item));
      }),
      { numRuns: 25 },
    );
  });

  it('does not wait for more once it is full', async () => {
    const join = coalesce<number>(async () => {}, { waitMs: 60_000, max: 2 });
    await Promise.all([join(1), join(2)]);
  });

  it('answers a caller only once its own write is done', async () => {
    let finish = () => {};
    const join = coalesce<number>(() => new Promise<void>((resolve) => (finish = resolve)), { waitMs: 0, max: 10 });
    let done = false;
    const joined = join(1).then(() => {
      done = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(done).toBe(false);
    finish();
    await joined;
  });

  it('fails for everybody in the group that failed, and for nobody after it', async () => {
    let broken = true;
    const join = coalesce<number>(
      async () => {
        if (broken) throw new Error('the database is away');
      },
      { waitMs: 1, max: 10 },
    );
    const results = await Promise.allSettled([join(1), join(2)]);
    expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected']);
    broken = false;
    await expect(join(3)).resolves.toBeUndefined();
  });
});
