import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AttemptKind, createDeliveryLimits } from '../../activities/webhooks/deliveryLimits.js';

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A send that ends when the test opens the gate. */
function aGate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

describe('the delivery limits', () => {
  it('admit 32 attempts of one subscription and delay the next one, but no other subscription', async () => {
    const deliveryLimits = createDeliveryLimits({ perSubscription: 32, total: 100, reservedForFirst: 20 });
    const { open, opened } = aGate();
    let inFlight = 0;
    const slow = Array.from({ length: 50 }, () =>
      deliveryLimits.run('slow', 'first', () => {
        inFlight += 1;
        return opened;
      }),
    );
    await tick();
    expect(inFlight).toBe(32);
    await expect(deliveryLimits.run('other', 'first', async () => 'sent')).resolves.toBe('sent');
    open();
    await Promise.all(slow);
    expect(inFlight).toBe(50);
  });

  it('keep their reserved slots free of retries', async () => {
    const deliveryLimits = createDeliveryLimits({ perSubscription: 32, total: 10, reservedForFirst: 4 });
    const { open, opened } = aGate();
    let retrying = 0;
    const retries = Array.from({ length: 30 }, (_, index) =>
      deliveryLimits.run(`sub-${index}`, 'retry', () => {
        retrying += 1;
        return opened;
      }),
    );
    await tick();
    expect(retrying).toBe(6);
    const firsts = Array.from({ length: 20 }, (_, index) =>
      deliveryLimits.run(`sub-${index}`, 'first', async () => index),
    );
    await expect(Promise.all(firsts)).resolves.toHaveLength(20);
    open();
    await Promise.all(retries);
  });

  it('pass on the result or the error of a send, and free the slot after either', async () => {
    const deliveryLimits = createDeliveryLimits({ perSubscription: 1, total: 1, reservedForFirst: 0 });
    await expect(deliveryLimits.run('a', 'retry', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await expect(
      deliveryLimits.run('a', 'retry', () => {
        throw new Error('broken at once');
      }),
    ).rejects.toThrow('broken at once');
    await expect(deliveryLimits.run('a', 'first', async () => 1)).resolves.toBe(1);
    expect(deliveryLimits.busySubscriptions()).toBe(0);
  });

  it('run everything once and exceed no limit, for any mix of subscriptions, attempt kinds and durations', async () => {
    const send = fc.record({
      subscription: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      attemptKind: fc.constantFrom<AttemptKind>('first', 'retry'),
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
        const deliveryLimits = createDeliveryLimits(given);
        const running = new Map<string, number>();
        const count = (key: string) => running.get(key) ?? 0;
        const add = (key: string, by: number) => running.set(key, count(key) + by);
        let done = 0;
        await Promise.allSettled(
          sends.map(({ subscription, attemptKind, ticks, fails }) =>
            deliveryLimits.run(subscription, attemptKind, async () => {
              for (const key of [subscription, attemptKind, 'all']) add(key, 1);
              expect(count(subscription)).toBeLessThanOrEqual(given.perSubscription);
              expect(count('retry')).toBeLessThanOrEqual(given.total - given.reservedForFirst);
              expect(count('all')).toBeLessThanOrEqual(given.total);
              for (let left = ticks; left > 0; left -= 1) await tick();
              for (const key of [subscription, attemptKind, 'all']) add(key, -1);
              done += 1;
              if (fails) throw new Error('failed');
            }),
          ),
        );
        expect(done).toBe(sends.length);
        expect(deliveryLimits.busySubscriptions()).toBe(0);
      }),
      { numRuns: 200 },
    );
  });
});
