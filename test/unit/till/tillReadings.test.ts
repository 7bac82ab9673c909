// A scanner may type in another layout than that of the device, so that a code has two readings (docs/till.md).
import 'fake-indexeddb/auto';
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { balanceOf } from '../../../console/till/state.js';
import { lookupsOf } from '../../../console/till/taps.js';
import { phone } from '../../../schemas/shared/phone.rules.js';
import { until } from '../../rig/checks/until.js';
import { aGate } from '../../rig/standins/gate.js';
import { aDevice, createWorld } from '../../rig/standins/tillWorld.js';

async function paired() {
  const world = createWorld(randomUUID());
  await world.store.adopt(aDevice);
  const tab = world.openTab();
  await tab.till.connect();
  return { world, tab };
}

describe('the till', () => {
  it('tries both readings of a scanner, and later the one that was right first', async () => {
    const { world, tab } = await paired();
    world.service.balances.set('7Y2Y9M4QXT', 3);
    await tab.till.find(['7Z2Z9M4QXT', '7Y2Y9M4QXT']);
    expect(tab.till.state.get().shown?.code).toBe('7Y2Y9M4QXT');
    await tab.till.refresh();
    world.setOnline(false);
    await tab.till.find(['8Z2Z9M4QXT', '8Y2Y9M4QXT']);
    expect(tab.till.state.get().shown?.code).toBe('8Y2Y9M4QXT');
  });

  it('asks which, when it has no line and both readings of a scanner may be a card', async () => {
    const { world, tab } = await paired();
    const [one, other] = ['7Z2Z9M4QXT', '7Y2Y9M4QXT'];
    const person = { memberCode: other, firstName: 'Ada', lastInitial: 'L', tier: null, status: 'active' as const };
    const member = { ...person, balance: 3, rewards: [] };
    await world.store.remember([other], { member, programId: 'p', at: world.now() });
    world.setOnline(false);
    await tab.till.find([one, other]);
    expect(tab.till.state.get().shown).toBeUndefined();
    expect(tab.till.state.get().choices).toMatchObject({
      areReadings: true,
      candidates: [
        { memberCode: one, firstName: null, programId: undefined },
        { memberCode: other, firstName: 'Ada', programId: 'p' },
      ],
    });
    await tab.till.find([other]);
    expect(balanceOf(tab.till.state.get())).toBe(3);
    await world.store.learn(aDevice.id, { readsByPosition: false });
    await tab.till.refresh();
    await tab.till.find([one, other]);
    expect(tab.till.state.get().choices?.candidates).toHaveLength(2);
    await tab.till.find(['8Z2Z9M4QXT', '8Y2Y9M4QXT']);
    expect(tab.till.state.get().shown?.code).toBe('8Z2Z9M4QXT');
  });
});

describe('what is typed', () => {
  const found = (text: string) => lookupsOf([text], ['phone']).some((each) => 'phone' in each);

  it.each([
    '\u202a+49 170 1234567\u202c',
    '0170\u20131234567',
    '0170\u20111234567',
    '[0170] 1234567',
    'tel:0170-1234567',
    'Tel. 0170/1234567',
    '+49\u00a0170\u00a01234567',
    '\u0660\u0661\u0667\u0660 \u0661\u0662\u0663\u0664\u0665\u0666\u0667',
    '\uff10\uff11\uff17\uff10\uff11\uff12\uff13\uff14',
    '0170~1234567',
  ])('%j is looked up as a phone number too, which the service reads', (text) => {
    expect(phone.safeParse(text).success).toBe(true);
    expect(found(text)).toBe(true);
  });

  it.each([
    '7H2K9M4QXT',
    'Ada Lovelace',
    'ada@example.org',
    'AB-12345',
    '1234',
    '12_345_67',
    '*12345*',
    '12345=67',
    '12345,67',
    '1'.repeat(40),
    'K\u00f6ln 50667',
  ])('%j is not', (text) => expect(found(text)).toBe(false));
});

describe('a till that was just paired', () => {
  const code = '7Y2Y9M4QXT';
  const number = '+4930901821';

  function unpaired() {
    const world = createWorld(randomUUID());
    const hello = aGate();
    world.holdHellos(hello.opened);
    world.phones.set(number, code);
    world.service.balances.set(code, 3);
    const { till } = world.openTab();
    /** What becomes of the first search, which begins as soon as the till says that it is paired. */
    const searched = (reading: string) =>
      new Promise<void>((resolve, reject) => {
        const unsubscribe = till.state.subscribe(() => {
          if (till.state.get().phase !== 'paired') return;
          unsubscribe();
          till.find([reading]).then(resolve, reject);
        });
      });
    return { till, hello, searched };
  }

  it('looks a phone number up when it knows that it may', async () => {
    const { till, hello, searched } = unpaired();
    const search = searched(number);
    const pairing = till.pair('123456');
    await until(() => till.state.get().phase === 'paired');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(till.state.get()).toMatchObject({ phase: 'paired', isFinding: true });
    hello.open();
    await Promise.all([search, pairing]);
    expect(till.state.get().shown?.code).toBe(code);
  });

  it('looks a card up at once', async () => {
    const { till, hello, searched } = unpaired();
    const search = searched(code);
    const pairing = till.pair('123456');
    await search;
    expect(till.state.get().shown?.code).toBe(code);
    hello.open();
    await pairing;
  });

  it('says that it has no line when it cannot learn what it may look up', async () => {
    const world = createWorld(randomUUID());
    await world.store.adopt(aDevice);
    world.setOnline(false);
    const { till } = world.openTab();
    await till.connect();
    await till.find([number]);
    expect(till.state.get().problem).toEqual({ code: 'OFFLINE' });
  });
});
