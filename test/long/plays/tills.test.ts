// Five tills tap, while their lines come and go, answers get lost, tabs are doubled, and browsers and API processes are
// killed; the storage of two devices is wiped. Nothing is lost unseen and nothing is done twice, and the taps that are
// called missing are exactly those that the wiped devices held. The pages' own engine runs on an IndexedDB in memory.
import 'fake-indexeddb/auto';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createReader, newCodeFor } from '../../../activities/till/readers.writes.js';
import { readerNow } from '../../../activities/till/taps.writes.js';
import { createCall } from '../../../console/till/calls.js';
import { undoableOf, waitingOf } from '../../../console/till/state.js';
import { createTillStore, type TillStore } from '../../../console/till/store.js';
import type { Asked, Tap } from '../../../console/till/taps.js';
import { createTill, type Till } from '../../../console/till/till.js';
import type { LedgerRow } from '../../../schemas/points/points.rows.js';
import { type CrashTest, startCrashTest } from '../../crash/rig/crashTest.js';
import { createRandom } from '../../crash/rig/random.js';
import { merchantId } from '../../crash/rig/world.js';
import { until } from '../../rig/checks/until.js';
import { steppedStore } from '../../rig/standins/tillWorld.js';

const wanted = Number(process.env.TILL_TAPS ?? 10_000);
const tills = 5;
const customers = 200;
const mostWaiting = 150;
const dayMs = 86_400_000;
const random = createRandom(11);

let test: CrashTest;
let codes: string[];

beforeAll(async () => {
  test = await startCrashTest({ seed: 11, members: 0 });
  const enrolled = await Promise.all(
    Array.from({ length: customers }, (_, index) =>
      test.caller.call({
        method: 'POST',
        path: '/merchants/me/members',
        body: { programId: 'crash-stamps' },
        key: `customer-${index}`,
      }),
    ),
  );
  codes = enrolled.map(({ answer }) => ('text' in answer ? JSON.parse(answer.text).data.memberCode : ''));
});
afterAll(() => test?.stop());

const never = <T>(): Promise<T> => new Promise<T>(() => {});

interface Tab {
  till: Till;
  kill: () => void;
}

/** A device at a till, whose browser has one or two tabs. */
async function aDevice(name: string, skewMs: number) {
  const { deps, apis } = test.cluster;
  const { row, made } = await createReader(deps, { merchantId, createdBy: 'test', name });
  const addresses = Object.values(apis);
  const [anyAddress = ''] = addresses;
  /** What the device tapped, by its key, as far as it was looked at. */
  const tapped = new Map<string, Tap>();
  const lost: Tap[] = [];
  let database = randomUUID();
  let store: TillStore = createTillStore(database);
  let hasLine = true;
  /** The line carries only hello. */
  let isNarrow = false;
  let last: Promise<unknown> = Promise.resolve();
  const tabs = new Set<Tab>();

  /** The line of the device, which loses requests and answers. */
  async function send(request: Request): Promise<Response> {
    // A pairing whose answer is lost needs another code.
    const isSure = request.url.endsWith('/till/pair');
    const isLost = !isSure && random.chance(0.04);
    if (!hasLine || isLost || (isNarrow && !request.url.endsWith('/till/hello'))) throw new TypeError('no line');
    const url = random.pick(addresses) + request.url.slice(anyAddress.length);
    const response = await fetch(new Request(url, request));
    if (!isSure && random.chance(0.04)) throw new TypeError('the answer is lost');
    return response;
  }
  const call = createCall({ baseUrl: anyAddress, language: 'en', fetch: send });

  function openTab(): Tab {
    let isAlive = true;
    const living = <T>(work: () => Promise<T>): Promise<T> =>
      isAlive ? work().then((value) => (isAlive ? value : never<T>())) : never<T>();
    let release: () => void = () => undefined;
    const tab: Tab = {
      till: createTill({
        store: steppedStore(createTillStore(database), living),
        call: (path, body, options) => living(() => call(path, body, options)),
        now: () => Date.now() + skewMs,
        newKey: randomUUID,
        lock(work) {
          const turn = last.then(() => {
            if (!isAlive) return;
            return Promise.race([work(), new Promise<void>((resolve) => (release = resolve))]);
          });
          last = turn.catch(() => undefined);
          return turn;
        },
        announce() {
          for (const other of tabs) if (other !== tab) void other.till.refresh();
        },
        later: (ms, work) => void setTimeout(() => isAlive && work(), ms),
      }),
      kill() {
        isAlive = false;
        tabs.delete(tab);
        release();
      },
    };
    tabs.add(tab);
    return tab;
  }

  /** Keeps what the device knows of its taps, and lets it forget what was sent. */
  async function look(): Promise<Tap[]> {
    const lookedAt = Date.now() + skewMs;
    const taps = await store.taps();
    for (const tap of taps) tapped.set(tap.key, tap);
    // What is sent after this look stays for the next one.
    const waiting = taps.flatMap(({ state, at }) => (state === 'waiting' ? [at] : []));
    await store.tidy({ taps: Math.min(lookedAt, ...waiting), members: 0 });
    return taps;
  }

  async function pair(code: string): Promise<void> {
    const tab = openTab();
    await until(async () => {
      if ((await store.current()) === undefined) await tab.till.pair(code).catch(() => undefined);
      else await tab.till.connect();
      // It has the service's time from the first hello on.
      return (await store.current())?.hello !== undefined;
    });
  }

  function whatToTap({ till }: Tab): Asked {
    const code = random.pick(codes);
    const undone = random.chance(0.1) && undoableOf(till.state.get(), code, Date.now() + skewMs);
    if (undone) return { kind: 'undo', undoes: undone.sequence, code, name: '', delta: -undone.delta };
    if (random.chance(0.15)) return { kind: 'redeem', rewardId: 'default', cost: 5, code, name: '', delta: -5 };
    return { kind: 'earn', quantity: 1, code, name: '', delta: 1 };
  }

  async function step(): Promise<boolean> {
    const tab = tabs.size > 0 ? random.pick([...tabs]) : openTab();
    const dice = random.next();
    if (dice < 0.01) hasLine = !hasLine;
    else if (dice < 0.02) tab.kill();
    else if (dice < 0.03 && tabs.size < 2) void openTab().till.connect();
    else if (dice < 0.04) void tab.till.connect();
    else {
      const asked = whatToTap(tab);
      await Promise.race([tab.till.tap(asked), sleep(1_000)]);
      return true;
    }
    return false;
  }

  async function run(taps: number): Promise<void> {
    for (let done = 0; done < taps; ) {
      if (await step()) done += 1;
      if (done % 50 !== 0) continue;
      await look();
      const held = await store.waiting();
      if (held.length < mostWaiting) continue;
      hasLine = true;
      if (tabs.size === 0) openTab();
      for (const tab of tabs) void tab.till.connect();
      await sleep(300);
    }
  }

  async function sendAll(): Promise<void> {
    [hasLine, isNarrow] = [true, false];
    for (const tab of [...tabs]) tab.kill();
    const tab = openTab();
    await until(
      async () => {
        await tab.till.connect();
        return waitingOf(tab.till.state.get()).length === 0;
      },
      { withinMs: 240_000, everyMs: 500 },
    );
    await tab.till.connect();
    await look();
  }

  /** Holds back some taps, says hello, and is wiped and paired anew. */
  async function wipe(): Promise<void> {
    await sendAll();
    isNarrow = true;
    const [tab] = tabs;
    if (!tab) throw new Error('The device has no tab.');
    for (let held = 0; held < 7; held += 1)
      await tab.till.tap({ kind: 'earn', quantity: 1, code: random.pick(codes), name: '', delta: 1 });
    await until(async () => {
      await tab.till.connect();
      const seen = await deps.collections.readers.findOne({ _id: row._id, merchantId });
      return seen?.waiting === 7;
    });
    lost.push(...(await store.waiting()));
    for (const each of [...tabs]) each.kill();
    isNarrow = false;
    [last, database] = [Promise.resolve(), randomUUID()];
    store = createTillStore(database);
    await pair((await newCodeFor(deps, { merchantId, id: row._id })).code);
  }

  await pair(made.code);
  return { id: row._id, tapped, lost, run, sendAll, wipe };
}

const entryId = ({ kind, key }: Tap, memberId: string): string =>
  `${kind === 'undo' ? 'reverse' : kind}:${memberId}:${key}`;

it(`loses and doubles none of ${wanted} taps, and names exactly the taps of wiped devices as missing`, async () => {
  const { cluster } = test;
  const { ledger, members, readers } = cluster.deps.collections;
  // The clock of one device is a day behind.
  const devices = await Promise.all(
    Array.from({ length: tills }, (_, index) => aDevice(`till ${index + 1}`, index === 2 ? -dayMs : 0)),
  );
  let isOver = false;
  const kills = (async () => {
    for (let count = 0; !isOver; count += 1) {
      await sleep(4_000);
      // On a busy machine a process needs longer than that to start.
      await cluster.allUp();
      if (!isOver) cluster.signal(count % 2 === 0 ? 'api-1' : 'api-2', 'SIGKILL');
    }
  })();
  await Promise.all(
    devices.map(async (device, index) => {
      await device.run(wanted / tills / 2);
      if (index < 2) await device.wipe();
      await device.run(wanted / tills / 2);
    }),
  );
  isOver = true;
  await kills;
  await cluster.allUp();
  await Promise.all(devices.map((device) => device.sendAll()));

  const people = await members.find({ merchantId, programId: 'crash-stamps' }).toArray();
  const idOf = new Map(people.map(({ memberCode, _id }) => [memberCode, _id]));
  const rows = await ledger.find({ merchantId, 'actor.type': 'reader' }).toArray();
  const rowOf = new Map<string, LedgerRow>(rows.map((row) => [row._id, row]));
  for (const { id, tapped, lost } of devices) {
    const taps = [...tapped.values()];
    const dropped = new Set(lost.map(({ key }) => key));
    expect(taps.filter(({ state, key }) => state === 'waiting' && !dropped.has(key))).toEqual([]);
    const applied = taps.filter((tap) => rowOf.has(entryId(tap, idOf.get(tap.code) ?? '')));
    expect(applied.map(({ key }) => key).sort()).toEqual(
      taps.flatMap(({ state, key }) => (state === 'sent' ? [key] : [])).sort(),
    );
    // Within one pairing, the entries of a member are in the order of the taps.
    const versions = new Map<string, number>();
    for (const tap of applied.toSorted((a, b) => a.sequence - b.sequence)) {
      const row = rowOf.get(entryId(tap, idOf.get(tap.code) ?? ''));
      const of = `${tap.device} ${tap.code}`;
      expect(row?.memberVersion).toBeGreaterThan(versions.get(of) ?? 0);
      versions.set(of, row?.memberVersion ?? 0);
      expect(Math.abs(Date.now() - Number(row?.occurredAt))).toBeLessThan(dayMs / 2);
    }
    const row = await readers.findOne({ _id: id, merchantId });
    if (!row) throw new Error('The reader is gone.');
    const reader = await readerNow(cluster.deps, row);
    const missing = [...reader.former, reader.taps]
      .flatMap(({ gaps }) => gaps)
      .flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, index) => from + index));
    expect(missing).toEqual(lost.map(({ sequence }) => sequence));
  }
  const all = devices.flatMap(({ tapped }) => [...tapped.values()]);
  expect(all.length).toBeGreaterThanOrEqual(wanted);
  expect(rows.length).toBe(all.filter(({ state }) => state === 'sent').length);
  const sums = new Map<string, number>();
  for (const { memberId, delta } of await ledger.find({ merchantId, programId: 'crash-stamps' }).toArray())
    sums.set(memberId, (sums.get(memberId) ?? 0) + delta);
  for (const { _id, balance } of people) expect([_id, sums.get(_id) ?? 0]).toEqual([_id, balance]);
}, 1_200_000);
