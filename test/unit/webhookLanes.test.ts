import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLanes, type Turn } from '../../activities/webhooks/lanes.js';

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A send that ends when it is told to. */
function aGate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

describe('the lanes', () => {
  it('let 32 attempts of one subscription through and hold the next, and nobody else', async () => {
    const lanes = createLanes({ perSubscription: 32, total: 100, reservedForFirst: 20 });
    const { open, opened } = aGate();
    let inFlight = 0;
    const slow = Array.from({ length: 50 }, () =>
      lanes.run('slow', 'first', () => {
        inFlight += 1;
        return opened;
      }),
    );
    await tick();
    expect(inFlight).toBe(32);
    await expect(lanes.run('other', 'first', async () => 'sent')).resolves.toBe('sent');
    open();
    await Promise.all(slow);
    expect(inFlight).toBe(50);
  });

  it('keep their reserved slots free of retries', async () => {
    const lanes = createLanes({ perSubscription: 32, total: 10, reservedForFirst: 4 });
    const { open, opened } = aGate();
    let retrying = 0;
    const retries = Array.from({ length: 30 }, (_, index) =>
      lanes.run(`sub-${index}`, 'retry', () => {
        retrying += 1;
        return opened;
      }),
    );
    await tick();
    expect(retrying).toBe(6);
    const firsts = Array.from({ length: 20 }, (_, index) => lanes.run(`sub-${index}`, 'first', async () => index));
    await expect(Promise.all(firsts)).resolves.toHaveLength(20);
    open();
    await Promise.all(retries);
  });

  it('hand on what a send answers and what it throws, and are free again after either', async () => {
    const lanes = createLanes({ perSubscription: 1, total: 1, reservedForFirst: 0 });
    await expect(lanes.run('a', 'retry', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await expect(
      lanes.run('a', 'retry', () => {
        throw new Error('broken at once');
      }),
    ).rejects.toThrow('broken at once');
    await expect(lanes.run('a', 'first', async () => 1)).resolves.toBe(1);
    expect(lanes.busySubscriptions()).toBe(0);
  });

  it('run everything once and pass no limit, in any mix of subscriptions, turns and durations', async () => {
    const send = fc.record({
      subscription: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      turn: fc.constantFrom<Turn>('first', 'retry'),
      ticks: fc.nat({ max: 5 }),
      fails: fc.boolean(),
    });
    const limits = fc
      .record({
        perSubscription: fc.integer({ min: 1, max: 4 }),
        total: fc.integer({ min: 1, max: 8 }),
        part: fc.nat({ max: 7 }),
      })
      .map(({ part, ...rest }) => ({ ...rest, reservedForFirst: Math.min(part, rest.total - 1) }));

    await fc.assert(
      fc.asyncProperty(limits, fc.array(send, { maxLength: 60 }), async (given, sends) => {
        const lanes = createLanes(given);
        const running = new Map<string, number>();
        const count = (key: string) => running.get(key) ?? 0;
        const add = (key: string, by: number) => running.set(key, count(key) + by);
        let done = 0;
        await Promise.allSettled(
          sends.map(({ subscription, turn, ticks, fails }) =>
            lanes.run(subscription, turn, async () => {
              for (const key of [subscription, turn, 'all']) add(key, 1);
              expect(count(subscription)).toBeLessThanOrEqual(given.perSubscription);
              expect(count('retry')).toBeLessThanOrEqual(given.total - given.reservedForFirst);
              expect(count('all')).toBeLessThanOrEqual(given.total);
              for (let left = ticks; left > 0; left -= 1) await tick();
              for (const key of [subscription, turn, 'all']) add(key, -1);
              done += 1;
              if (fails) throw new Error('failed');
            }),
          ),
        );
        expect(done).toBe(sends.length);
        expect(lanes.busySubscriptions()).toBe(0);
      }),
      { numRuns: 200 },
    );
  });
});
