// Slots are shared fairly among owners (merchants) and their keys (subscriptions), however long each slot is held.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFairLimit, type FairLimitOptions, type SlotRequest, Withdrawn } from '../../../platform/fairLimit.js';
import { aGate } from '../../rig/standins/gate.js';

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Requests slots that are held until `open` is called; `held` counts them by key. */
function asking(options: FairLimitOptions) {
  const limit = createFairLimit(options);
  const { open, opened } = aGate();
  const held: Record<string, number> = {};
  const runs: Promise<void>[] = [];
  const ask = (count: number, request: SlotRequest) => {
    for (let index = 0; index < count; index += 1)
      runs.push(
        limit.run({ ...request }, async () => {
          held[request.key] = (held[request.key] ?? 0) + 1;
          await opened;
        }),
      );
  };
  return { limit, held, ask, open, all: () => Promise.all(runs) };
}

describe('slots', () => {
  it('are limited for each key, and the next key gets its own', async () => {
    const { limit, held, ask, open, all } = asking({ perKey: 32, total: 1_000 });
    ask(50, { owner: 'merchant', key: 'slow' });
    await tick();
    expect(held).toEqual({ slow: 32 });
    await expect(limit.run({ owner: 'merchant', key: 'other' }, async () => 'sent')).resolves.toBe('sent');
    open();
    await all();
    expect(held).toEqual({ slow: 50 });
    expect(limit.busyKeys()).toBe(0);
  });

  it('are not waited for longer than a request allows', async () => {
    const { limit, ask, open, all } = asking({ perKey: 1, total: 10 });
    const request = { owner: 'merchant', key: 'slow', maxWaitMs: 20 };
    await expect(limit.run({ ...request }, async () => 'sent')).resolves.toBe('sent');
    ask(1, { owner: 'merchant', key: 'slow' });
    await expect(limit.run({ ...request }, async () => 'sent')).rejects.toThrow(Withdrawn);
    open();
    await all();
    expect(limit.busyKeys()).toBe(0);
  });

  it('are never all taken by one owner, by its keys, or by several owners', async () => {
    const { limit, held, ask } = asking({ perKey: 32, total: 1_000 });
    for (const owner of ['a', 'b', 'c'])
      for (let index = 0; index < 20; index += 1) ask(1_000, { owner, key: `${owner}${index}` });
    await tick();
    const ofOwner = (owner: string) =>
      Object.entries(held).reduce((sum, [key, count]) => sum + (key.startsWith(owner) ? count : 0), 0);
    for (const owner of ['a', 'b', 'c']) expect(ofOwner(owner)).toBeGreaterThan(0);
    expect(ofOwner('a')).toBeLessThan(550);
    expect(limit.room('a', 'a-new')).toBeGreaterThan(0);
    expect(limit.room('d', 'd')).toBeGreaterThan(0);
    await expect(limit.run({ owner: 'a', key: 'a-new' }, async () => 'sent')).resolves.toBe('sent');
    await expect(limit.run({ owner: 'd', key: 'd' }, async () => 'sent')).resolves.toBe('sent');
  });

  it('that become free go to the waiting owner with the fewest', async () => {
    const limit = createFairLimit({ total: 4 });
    const gates = Array.from('aaab', (owner) => ({ owner, ...aGate() }));
    const holding = gates.map(({ owner, opened }) => limit.run({ owner, key: owner }, () => opened));
    const order: string[] = [];
    const waiting = Array.from('aac', (owner) =>
      limit.run({ owner, key: owner }, async () => {
        order.push(owner);
      }),
    );
    gates[0]?.open();
    await Promise.all(waiting);
    expect(order).toEqual(['c', 'a', 'a']);
    for (const { open } of gates) open();
    await Promise.all(holding);
  });

  it('that are reserved are not for deferred requests, which delay no other request of their key', async () => {
    const { limit, held, ask, open, all } = asking({ total: 100, reserved: 90 });
    ask(30, { owner: 'merchant', key: 'retried', deferred: true });
    await tick();
    expect(held).toEqual({ retried: 10 });
    await expect(limit.run({ owner: 'merchant', key: 'retried' }, async () => 'sent')).resolves.toBe('sent');
    open();
    await all();
  });

  it('are released after a result and after an error, and report for how long they are held', async () => {
    const limit = createFairLimit({ perKey: 1, total: 1 });
    const request = { owner: 'a', key: 'a' };
    expect(limit.oldestMs('a')).toBe(0);
    await expect(limit.run(request, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await expect(
      limit.run(request, () => {
        throw new Error('broken at once');
      }),
    ).rejects.toThrow('broken at once');
    await limit.run(request, async () => {
      await tick();
      expect(limit.oldestMs('a')).toBeGreaterThan(0);
      expect(limit.room('a', 'a')).toBe(0);
    });
    expect(limit.busyKeys()).toBe(0);
  });
});

describe('a request', () => {
  it('can be withdrawn while it waits, and not after that', async () => {
    const limit = createFairLimit({ total: 1 });
    const gate = aGate();
    const [first, second] = [
      { owner: 'a', key: 'a' },
      { owner: 'a', key: 'a' },
    ];
    const running = limit.run(first, () => gate.opened);
    const waiting = limit.run(second, async () => {});
    expect(limit.withdraw(first)).toBe(false);
    expect(limit.withdraw(second)).toBe(true);
    expect(limit.withdraw(second)).toBe(false);
    await expect(waiting).rejects.toThrow(Withdrawn);
    gate.open();
    await running;
    expect(limit.busyKeys()).toBe(0);
  });
});

it('any mix of owners, keys, kinds and durations runs once and exceeds no limit', async () => {
  const work = fc.record({
    owner: fc.constantFrom('a', 'b', 'c'),
    key: fc.constantFrom('1', '2', '3'),
    deferred: fc.boolean(),
    ticks: fc.nat({ max: 5 }),
    fails: fc.boolean(),
    withdrawn: fc.boolean(),
  });
  const limits = fc
    .record({ perKey: fc.integer({ min: 1, max: 4 }), total: fc.integer({ min: 1, max: 8 }), part: fc.nat({ max: 7 }) })
    .map(({ part, ...rest }) => ({ ...rest, reserved: Math.min(part, rest.total - 1) }));
  await fc.assert(
    fc.asyncProperty(limits, fc.array(work, { maxLength: 60 }), async (given, works) => {
      const limit = createFairLimit(given);
      const running = new Map<string, number>();
      const count = (name: string) => running.get(name) ?? 0;
      let begun = 0;
      let withdrawn = 0;
      const done = works.map(({ owner, key, deferred, ticks, fails, withdrawn: isWithdrawn }) => {
        const request = { owner, key: `${owner}${key}`, deferred };
        const names = [`key ${request.key}`, `deferred ${deferred}`, 'all'];
        const run = limit.run(request, async () => {
          for (const name of names) running.set(name, count(name) + 1);
          begun += 1;
          expect(count(`key ${request.key}`)).toBeLessThanOrEqual(given.perKey);
          expect(count('deferred true')).toBeLessThanOrEqual(given.total - given.reserved);
          expect(count('all')).toBeLessThanOrEqual(given.total);
          for (let left = ticks; left > 0; left -= 1) await tick();
          for (const name of names) running.set(name, count(name) - 1);
          if (fails) throw new Error('failed');
        });
        if (isWithdrawn && limit.withdraw(request)) withdrawn += 1;
        return run;
      });
      await Promise.allSettled(done);
      expect(begun + withdrawn).toBe(works.length);
      expect(limit.busyKeys()).toBe(0);
    }),
    { numRuns: 200 },
  );
});
