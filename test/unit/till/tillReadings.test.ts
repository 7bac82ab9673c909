// A scanner may type in another layout than that of the device, so that a code has two readings (docs/till.md).
import 'fake-indexeddb/auto';
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { balanceOf } from '../../../console/till/state.js';
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
