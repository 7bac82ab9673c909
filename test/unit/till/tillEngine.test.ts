// The till's page without its screen (docs/till.md): no tap is lost or sent with two keys, whatever is killed between
// any two steps.
import 'fake-indexeddb/auto';
import { randomUUID } from 'node:crypto';
import { indexedDB } from 'fake-indexeddb';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { balanceOf, listedOf, undoableOf, waitingOf } from '../../../console/till/state.js';
import type { Asked, Member, Tap } from '../../../console/till/taps.js';
import { aDevice, createWorld, type Death, type Fate } from '../../rig/standins/tillWorld.js';

const codes = ['7H2K9M4QXT', '8J3M9N5RYV', '9K4N0P6SZW'];

const aMember = (memberCode: string, balance = 0): Member => ({
  ...{ memberCode, firstName: 'Ada', lastInitial: 'L', tier: null, status: 'active' },
  ...{ balance, rewards: [] },
});
const stamp = (code: string, quantity = 1): Asked => ({ kind: 'earn', quantity, code, name: 'Ada', delta: quantity });
const redeem = (code: string): Asked => ({
  kind: 'redeem',
  rewardId: 'default',
  cost: 10,
  code,
  name: 'Ada',
  delta: -10,
});

type TapStep = { do: 'earn'; code: string; quantity: number } | { do: 'redeem' | 'undo'; code: string };

const fate = fc.constantFrom<Fate>(
  ...(['answered', 'answered', 'answered', 'requestLost', 'answerLost', 'busy', 'failed'] as const),
  ...(['inUse', 'portal', 'tooMany'] as const),
);
const death: fc.Arbitrary<Death | undefined> = fc.option(
  fc.record({ after: fc.nat({ max: 40 }), isDone: fc.boolean() }),
  { nil: undefined },
);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('earn' as const),
      code: fc.constantFrom(...codes),
      quantity: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('undo' as const), code: fc.constantFrom(...codes) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('redeem' as const), code: fc.constantFrom(...codes) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('line' as const), on: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 90_000 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('open' as const), death }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('quiet' as const) }) },
);

function askedFor(each: TapStep, change: Tap | undefined): Asked | undefined {
  if (each.do === 'earn') return stamp(each.code, each.quantity);
  if (each.do === 'redeem') return redeem(each.code);
  return change && { kind: 'undo', undoes: change.sequence, code: each.code, name: '', delta: -change.delta };
}

async function paired() {
  const world = createWorld(randomUUID());
  await world.store.adopt(aDevice);
  const tab = world.openTab();
  await tab.till.connect();
  await world.settle();
  return { world, tab };
}

/** A tab that lives, until nothing waits. */
async function sendAll(world: ReturnType<typeof createWorld>) {
  world.setOnline(true);
  for (const tab of world.tabs) tab.kill();
  const tab = world.openTab();
  await tab.till.connect();
  for (let round = 0; round < 50; round += 1) {
    await world.pass(61_000);
    await tab.till.connect();
    await world.settle();
    if (waitingOf(tab.till.state.get()).length === 0) break;
  }
  await tab.till.connect();
  return tab.till;
}

describe('the till', () => {
  it('loses no tap, sends none with two keys, and keeps the order of a member, whatever is killed or lost', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 40 }),
        fc.array(fate, { maxLength: 60 }),
        async (steps, fates) => {
          const { world } = await paired();
          world.fates.push(...fates);
          const noted: string[] = [];
          for (const each of steps) {
            const tab = [...world.tabs].at(-1) ?? world.openTab();
            if (each.do === 'line') world.setOnline(each.on);
            else if (each.do === 'wait') await world.pass(each.ms);
            else if (each.do === 'open') void world.openTab(each.death).till.connect();
            else if (each.do === 'kill') tab.kill();
            else if (each.do === 'quiet') await world.settle();
            else {
              const asked = askedFor(each, undoableOf(tab.till.state.get(), each.code, world.now()));
              if (!asked) continue;
              const tapping = tab.till.tap(asked).then(() => noted.push(asked.kind));
              await Promise.race([tapping, world.settle()]);
            }
          }
          const till = await sendAll(world);
          const taps = await world.store.taps();
          const { decided, keysOf, balances } = world.service;
          expect(taps.filter(({ state }) => state === 'waiting')).toEqual([]);
          expect(taps.length).toBeGreaterThanOrEqual(noted.length);
          expect(taps.map(({ sequence }) => sequence)).toEqual(taps.map((_, index) => index + 1));
          expect([...decided.values()].map(({ sequence }) => sequence).sort((a, b) => a - b)).toEqual(
            taps.map(({ sequence }) => sequence),
          );
          for (const keys of keysOf.values()) expect(keys.size).toBe(1);
          for (const code of codes) {
            const order = [...decided.values()].filter((tap) => tap.code === code).map(({ sequence }) => sequence);
            expect(order).toEqual(order.toSorted((a, b) => a - b));
          }
          const refused = [...decided].filter(([, { answer }]) => answer.error).map(([key]) => key);
          expect(
            listedOf(till.state.get())
              .map(({ key }) => key)
              .sort(),
          ).toEqual(refused.sort());
          for (const tap of listedOf(till.state.get())) expect(tap.why).toMatch(/^Sorry: /);
          const sent = taps.filter(({ state }) => state === 'sent');
          for (const code of codes) {
            const sum = sent
              .filter((tap) => tap.code === code && tap.kind !== 'redeem')
              .reduce((all, { delta }) => all + delta, 0);
            const redeemed = sent.filter((tap) => tap.code === code && tap.kind === 'redeem').length;
            if (redeemed === 0) expect(balances.get(code) ?? 0).toBe(sum);
          }
          expect(world.hellos.at(-1)).toEqual({ lastSequence: taps.length, waiting: 0 });
        },
      ),
      { numRuns: 60 },
    );
  });

  it('sends nothing before the time that the service asks for, not even a new tap', async () => {
    const { world, tab } = await paired();
    world.fates.push('tooMany');
    await tab.till.tap(stamp('7H2K9M4QXT'));
    await world.settle();
    await world.pass(29_000);
    await tab.till.tap(stamp('8J3M9N5RYV'));
    await tab.till.connect();
    await world.settle();
    expect(world.service.decided.size).toBe(0);
    await world.pass(2_000);
    expect(world.service.decided.size).toBe(2);
  });

  it('sends what waits as soon as the line is back, also when the clock of the device was put back by then', async () => {
    const { world, tab } = await paired();
    world.setSkew(2 * 3_600_000);
    world.setOnline(false);
    await tab.till.tap(stamp('7H2K9M4QXT'));
    await world.settle();
    await tab.till.connect();
    world.setSkew(0);
    world.setOnline(true);
    await tab.till.connect();
    await world.settle();
    expect(world.service.decided.size).toBe(1);
    // The same after the service asked for patience.
    world.setSkew(2 * 3_600_000);
    world.fates.push('tooMany');
    await tab.till.tap(stamp('8J3M9N5RYV'));
    await world.settle();
    world.setSkew(0);
    await tab.till.connect();
    await world.settle();
    expect(world.service.decided.size).toBe(2);
  });

  it('sends the taps of other members while one gets no decision', async () => {
    const { world, tab } = await paired();
    world.fates.push('failed');
    await Promise.all(codes.map((code) => tab.till.tap(stamp(code))));
    await world.settle();
    expect(world.service.decided.size).toBe(2);
    await world.pass(1_100);
    expect(world.service.decided.size).toBe(3);
  });

  it('opens the database again when the system has closed it', async () => {
    const connections: { close: () => void }[] = [];
    const { open } = indexedDB;
    const watch = vi.spyOn(indexedDB, 'open').mockImplementation((...given: Parameters<typeof open>) => {
      const request = open.apply(indexedDB, given);
      request.addEventListener('success', () => connections.push(request.result));
      return request;
    });
    const { world, tab } = await paired();
    const [code = ''] = codes;
    await tab.till.tap(stamp(code));
    await world.settle();
    for (const connection of connections) connection.close();
    await tab.till.tap(stamp(code));
    await world.settle();
    watch.mockRestore();
    expect(world.service.balances.get(code)).toBe(2);
    expect((await world.store.taps()).map(({ state }) => state)).toEqual(['sent', 'sent']);
  });

  it('dates a sale by the clock of the service when that of the device is wrong by a day', async () => {
    const { world, tab } = await paired();
    world.setSkew(24 * 3_600_000);
    await tab.till.connect();
    await tab.till.tap(stamp('7H2K9M4QXT'));
    const [tap] = await world.store.taps();
    expect(Date.parse(tap?.occurredAt ?? '')).toBe(world.now());
    expect(tap?.at).toBe(world.now() + 24 * 3_600_000);
  });

  it('keeps the taps of a reader that is revoked, says so, and forgets the members', async () => {
    const { world, tab } = await paired();
    const [code = ''] = codes;
    world.setOnline(false);
    await tab.till.tap(stamp(code));
    await world.store.remember([code], { member: aMember(code), programId: 'p', at: world.now() });
    world.setOnline(true);
    world.revoke();
    await tab.till.connect();
    await world.settle();
    const state = tab.till.state.get();
    expect(state.shutOut?.code).toBe('INVALID_TOKEN');
    expect(waitingOf(state)).toHaveLength(1);
    expect(await world.store.known(code)).toBeUndefined();
    expect(listedOf(state)).toEqual([]);

    await world.store.adopt({ ...aDevice, id: 'reader:r1:p2', token: 'lpr_y' });
    await tab.till.connect();
    await world.settle();
    expect(world.service.decided.size).toBe(0);
    expect(listedOf(tab.till.state.get())).toHaveLength(1);
    const [lost] = listedOf(tab.till.state.get());
    await tab.till.dismiss(lost?.id ?? 0);
    expect(listedOf(tab.till.state.get())).toEqual([]);
  });

  it('shows what it knows of a card without a line, with the taps that wait', async () => {
    const { world, tab } = await paired();
    const [code = '', stranger = ''] = codes;
    await world.store.remember([code], { member: aMember(code, 8), programId: 'p', at: world.now() });
    world.setOnline(false);
    await tab.till.find([code.toLowerCase()]);
    expect(tab.till.state.get().shown).toMatchObject({ code, isFresh: false });
    expect(tab.till.state.get().line).toBe('off');
    await tab.till.tap(stamp(code, 2));
    expect(balanceOf(tab.till.state.get())).toBe(10);
    await tab.till.find([stranger]);
    expect(tab.till.state.get().shown).toMatchObject({ code: stranger, known: undefined });
    expect(balanceOf(tab.till.state.get())).toBeUndefined();
  });

  it('undoes no earlier change for a person whose change was refused', async () => {
    const { world } = await paired();
    await world.store.adopt({ id: 'user:m:u', counted: 0, aheadMs: 0 });
    const tab = world.openTab();
    await tab.till.connect();
    const [code = ''] = codes;
    world.service.balances.set(code, 9);
    await tab.till.tap(stamp(code));
    await world.settle();
    world.setOnline(false);
    await tab.till.tap(stamp(code, 3));
    await tab.till.tap({ kind: 'undo', undoes: 2, code, name: '', delta: -3 });
    world.setOnline(true);
    await tab.till.connect();
    await world.settle();
    expect((await world.store.taps()).map(({ state }) => state)).toEqual(['sent', 'refused', 'refused']);
    expect(world.service.balances.get(code)).toBe(10);
  });

  it('sends no tap of one person with the session of another', async () => {
    const { world } = await paired();
    await world.store.adopt({ id: 'user:m:u', counted: 0, aheadMs: 0 });
    const tab = world.openTab();
    await tab.till.connect();
    world.setOnline(false);
    await tab.till.tap(stamp('7H2K9M4QXT'));
    world.setOnline(true);
    world.signIn('other');
    await tab.till.connect();
    await world.settle();
    expect(world.service.decided.size).toBe(0);
    expect(listedOf(tab.till.state.get())).toEqual([]);
    world.signIn('u');
    await tab.till.connect();
    await world.settle();
    expect(world.service.decided.size).toBe(1);
  });

  it('lists the taps of a person that were not sent when the device became that of a till', async () => {
    const { world } = await paired();
    await world.store.adopt({ id: 'user:m:u', counted: 0, aheadMs: 0 });
    const tab = world.openTab();
    await tab.till.connect();
    world.setOnline(false);
    await tab.till.tap(stamp('7H2K9M4QXT'));
    await world.settle();
    await world.store.adopt({ ...aDevice, id: 'reader:r1:p2' });
    world.setOnline(true);
    await tab.till.connect();
    await world.settle();
    expect(world.service.decided.size).toBe(0);
    expect(listedOf(tab.till.state.get())).toHaveLength(1);
  });
});
