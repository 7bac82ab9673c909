// A device that cannot store: its database is closed, full, forbidden, or never answers. The till says so, and never says
// of a tap that it is noted when it is not (docs/till.md).
import 'fake-indexeddb/auto';
import { randomUUID } from 'node:crypto';
import { IDBDatabase, IDBIndex, IDBObjectStore, IDBRequest, indexedDB } from 'fake-indexeddb';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Asked } from '../../../console/till/taps.js';
import { aDevice, createWorld } from '../../rig/standins/tillWorld.js';

const code = '7H2K9M4QXT';
const stamp: Asked = { kind: 'earn', quantity: 1, code, name: 'Ada', delta: 1 };

async function shown() {
  const world = createWorld(randomUUID());
  await world.store.adopt(aDevice);
  world.service.balances.set(code, 3);
  const tab = world.openTab();
  await tab.till.connect();
  await tab.till.find([code]);
  await world.settle();
  return { world, till: tab.till };
}

const fail = (name: string) => () => {
  throw new DOMException('sorry', name);
};
/** A request that no event ever follows. */
const silence = () => new IDBRequest() as never;

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('a device', () => {
  it('that is full says that the tap is not noted, uses up no number, and notes the next one', async () => {
    const { world, till } = await shown();
    const add = vi.spyOn(IDBObjectStore.prototype, 'add').mockImplementation(fail('QuotaExceededError'));
    expect(await till.tap(stamp)).toBe(false);
    expect(till.state.get().shown).toMatchObject({ isNotNoted: true, known: { member: { balance: 3 } } });
    expect(till.state.get().shown?.doneId).toBeUndefined();
    expect(till.state.get().taps).toEqual([]);
    add.mockRestore();
    expect(await till.tap(stamp)).toBe(true);
    await world.settle();
    expect(till.state.get().shown?.isNotNoted).toBeUndefined();
    expect((await world.store.taps()).map(({ sequence, state }) => [sequence, state])).toEqual([[1, 'sent']]);
  });

  it('that stores nothing, such as in a private window, says so from the start, until it stores again', async () => {
    const world = createWorld(randomUUID());
    const open = vi.spyOn(indexedDB, 'open').mockImplementation(fail('SecurityError'));
    const { till } = world.openTab();
    await till.connect();
    expect(till.state.get()).toMatchObject({ isStoreBroken: true, phase: 'starting' });
    open.mockRestore();
    await till.connect();
    expect(till.state.get().phase).not.toBe('starting');
    expect(till.state.get().isStoreBroken).toBeUndefined();
  });

  it('that cannot store shows what the service tells of a card all the same', async () => {
    const { world, till } = await shown();
    till.leave();
    vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(fail('InvalidStateError'));
    await till.find([code]);
    await world.settle();
    expect(till.state.get().isFinding).toBe(false);
    expect(till.state.get().shown).toMatchObject({ isFresh: true, known: { member: { balance: 3 } } });
    expect(await till.tap(stamp)).toBe(false);
  });

  it('whose database never answers is not waited for, and a tap that it was too late for is not noted later', async () => {
    const { world, till } = await shown();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const get = vi.spyOn(IDBIndex.prototype, 'get').mockImplementation(silence);
    const tapping = till.tap(stamp);
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await settled();
      await vi.advanceTimersByTimeAsync(3_000);
    }
    expect(await tapping).toBe(false);
    get.mockRestore();
    const open = vi.spyOn(indexedDB, 'open').mockImplementation(silence);
    const connecting = till.connect();
    await settled();
    await vi.advanceTimersByTimeAsync(3_000);
    open.mockRestore();
    await connecting;
    vi.useRealTimers();
    await world.settle();
    expect(till.state.get().isStoreBroken).toBeUndefined();
    expect(await world.store.taps()).toEqual([]);
    expect(await till.tap(stamp)).toBe(true);
  });
});

/** Lets the database do what it can. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
