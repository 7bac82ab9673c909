// How many requests of each merchant a process works on at the same time.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMerchantTurns } from '../../../api/http/merchantTurns.js';

const turnOfEventLoop = () => new Promise((resolve) => setImmediate(resolve));

/** Requests that end when they are ended; counts those in work of each merchant. */
function requests({ heldMs = 60_000 } = {}) {
  let at = 0;
  const runInTurn = createMerchantTurns({ now: () => at, heldMs });
  const working = new Map<string, number>();
  const ends: (() => void)[] = [];
  const countOf = (merchantId: string) => working.get(merchantId) ?? 0;
  return {
    countOf,
    waitMs(ms: number) {
      at += ms;
    },
    ask: (merchantId: string, count: number) =>
      Array.from({ length: count }, () =>
        runInTurn(merchantId, async () => {
          working.set(merchantId, countOf(merchantId) + 1);
          await new Promise<void>((end) => ends.push(end));
          working.set(merchantId, countOf(merchantId) - 1);
          return merchantId;
        }),
      ),
    async endAll() {
      for (; ends.length > 0; await turnOfEventLoop()) for (const end of ends.splice(0)) end();
    },
  };
}

describe('the turns of merchants', () => {
  it('give one that is alone all that it asks for', async () => {
    const { ask, countOf, endAll } = requests();
    const asked = ask('one', 200);
    await turnOfEventLoop();
    expect(countOf('one')).toBe(200);
    await endAll();
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['one']));
  });

  it('bound each merchant while there are several, and every request is worked on in the end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 2, maxLength: 8 }), async (counts) => {
        const { ask, countOf, endAll } = requests();
        // Each is known before it asks for many.
        const first = counts.flatMap((_, index) => ask(`m${index}`, 1));
        await turnOfEventLoop();
        await endAll();
        const asked = counts.flatMap((count, index) => ask(`m${index}`, count));
        await turnOfEventLoop();
        const bound = Math.max(2, Math.floor(8 / counts.length));
        for (const [index, count] of counts.entries()) expect(countOf(`m${index}`)).toBe(Math.min(count, bound));
        await endAll();
        await Promise.all([...first, ...asked]);
      }),
      { numRuns: 30 },
    );
  });

  it('bound one that was alone as soon as another one asks, and no longer when that one is quiet for two seconds', async () => {
    const { ask, countOf, endAll, waitMs } = requests();
    const asked = ask('loud', 30);
    await turnOfEventLoop();
    asked.push(...ask('quiet', 1), ...ask('loud', 30));
    await turnOfEventLoop();
    expect([countOf('loud'), countOf('quiet')]).toEqual([30, 1]);
    await endAll();
    await Promise.all(asked);
    asked.push(...ask('loud', 30));
    await turnOfEventLoop();
    expect(countOf('loud')).toBe(4);
    waitMs(2_001);
    asked.push(...ask('loud', 1));
    await turnOfEventLoop();
    expect(countOf('loud')).toBe(31);
    await endAll();
    await Promise.all(asked);
  });

  it('are given away by a request that takes long, whose answer comes all the same', async () => {
    const { ask, countOf, endAll } = requests({ heldMs: 1 });
    const asked = [...ask('other', 1), ...ask('slow', 40)];
    await expect.poll(() => countOf('slow')).toBe(40);
    await endAll();
    expect((await Promise.all(asked)).filter((merchantId) => merchantId === 'slow')).toHaveLength(40);
  });

  it('pass an error on, and go on after it', async () => {
    const runInTurn = createMerchantTurns();
    const failing = Array.from({ length: 30 }, (_, index) =>
      runInTurn(index % 2 ? 'one' : 'other', () => Promise.reject(new Error(`no ${index}`))),
    );
    const results = await Promise.allSettled(failing);
    expect(results.map((result) => result.status === 'rejected' && result.reason.message)).toEqual(
      failing.map((_, index) => `no ${index}`),
    );
    expect(await runInTurn('one', async () => 'yes')).toBe('yes');
  });
});
