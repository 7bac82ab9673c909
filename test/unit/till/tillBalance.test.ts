// The balance on the till's screen: what the service told, and the taps that it did not have then.
import 'fake-indexeddb/auto';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { balanceOf } from '../../../console/till/state.js';
import { aDevice, createWorld, type Fate } from '../../rig/standins/tillWorld.js';

const code = '7H2K9M4QXT';

async function shown(balance: number) {
  const world = createWorld(randomUUID());
  await world.store.adopt(aDevice);
  world.service.balances.set(code, balance);
  const { till } = world.openTab();
  await till.connect();
  await till.find([code]);
  const tap = async (quantity: number) => {
    await till.tap({ kind: 'earn', quantity, code, name: 'Ada', delta: quantity });
    await world.settle();
  };
  return { world, till, tap, onScreen: () => balanceOf(till.state.get()) };
}

const fate = fc.constantFrom<Fate>(
  ...(['answered', 'requestLost', 'answerLost', 'busy', 'failed', 'inUse', 'tooMany'] as const),
);
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ tap: fc.integer({ min: 1, max: 2 }) }) },
  { weight: 2, arbitrary: fc.record({ waitMs: fc.integer({ min: 1, max: 90_000 }) }) },
  { weight: 1, arbitrary: fc.record({ byOthers: fc.integer({ min: -1, max: 1 }) }) },
  { weight: 1, arbitrary: fc.record({ isOnline: fc.boolean() }) },
  { weight: 3, arbitrary: fc.constant({ looksUp: true }) },
);

describe('the balance on the screen', () => {
  it('has a tap once whose answer was lost, also after another till has changed it', async () => {
    const { world, till, tap, onScreen } = await shown(2);
    world.fates.push('answerLost', 'failed');
    await tap(2);
    expect(onScreen()).toBe(4);
    world.service.balances.set(code, 7);
    await till.find([code]);
    expect(onScreen()).toBe(7);
    await world.pass(120_000);
    await world.pass(120_000);
    expect((await world.store.taps()).map(({ state }) => state)).toEqual(['sent']);
    expect(onScreen()).toBe(7);
  });

  it('has each tap once in every tab, at every moment, whichever of them sent it', async () => {
    const { world, till, tap, onScreen } = await shown(5);
    const other = world.openTab();
    await other.till.connect();
    await other.till.find([code]);
    const seen = new Set<number | undefined>();
    for (const each of [till, other.till]) each.state.subscribe(() => seen.add(balanceOf(each.state.get())));
    await tap(2);
    expect([onScreen(), balanceOf(other.till.state.get())]).toEqual([7, 7]);
    expect([...seen].toSorted()).toEqual([7]);
    world.setOnline(false);
    await tap(1);
    world.setOnline(true);
    await Promise.all([till.connect(), other.till.connect()]);
    await world.settle();
    expect([onScreen(), balanceOf(other.till.state.get())]).toEqual([8, 8]);
    expect([...seen].toSorted()).toEqual([7, 8]);
    expect(world.service.balances.get(code)).toBe(8);
  });

  it('stands beside the tier that it has, after the last of several taps', async () => {
    const { world, till, tap, onScreen } = await shown(5);
    world.programs.push({ _id: 'p', name: 'Café', style: 'tiered', fields: { primaryLabel: 'POINTS' } });
    await till.connect();
    await till.find([code]);
    const onCard = () => [onScreen(), till.state.get().shown?.known?.member.tier];
    expect(onCard()).toEqual([5, 'Silver']);
    const seen: (number | undefined)[] = [];
    till.state.subscribe(() => seen.push(onScreen()));
    await Promise.all([tap(1), tap(1), tap(1)]);
    await world.settle();
    expect(onCard()).toEqual([8, 'Gold']);
    expect(seen).toEqual(seen.toSorted());
    await tap(-1);
    expect(onCard()).toEqual([7, 'Silver']);
  });

  it('is that of the service and the taps that were not sent yet, whatever gets lost', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.array(fate, { maxLength: 25 }), async (steps, fates) => {
        const { world, till, tap, onScreen } = await shown(0);
        const { balances, decided, keysOf } = world.service;
        const balance = () => balances.get(code) ?? 0;
        world.fates.push(...fates);
        let isOnline = true;
        for (const each of steps) {
          if ('tap' in each) await tap(each.tap);
          else if ('waitMs' in each) await world.pass(each.waitMs);
          else if ('byOthers' in each) balances.set(code, Math.max(balance() + each.byOthers, 0));
          else if ('isOnline' in each) {
            isOnline = each.isOnline;
            world.setOnline(isOnline);
          } else if (isOnline) {
            const unsent = (await world.store.taps()).filter(({ state, isTried }) => state === 'waiting' && !isTried);
            expect(unsent.filter(({ key }) => decided.has(key))).toEqual([]);
            const before = [balance(), keysOf.size];
            await till.find([code]);
            // A lookup that shows that the line is back starts the sending.
            if (keysOf.size === before[1])
              expect(onScreen()).toBe(unsent.reduce((sum, { delta }) => sum + delta, balance()));
            await world.settle();
          }
        }
        world.setOnline(true);
        for (let round = 0; round < 30 && (await world.store.waiting()).length > 0; round += 1) {
          await till.connect();
          await world.pass(61_000);
        }
        expect(await world.store.waiting()).toEqual([]);
        await till.find([code]);
        expect(onScreen()).toBe(balance());
      }),
      { numRuns: 40 },
    );
  });
});
