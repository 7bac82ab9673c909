// The requests of phones are bounded by pass, device and address: registrations, events of passes that are added and
// removed repeatedly, log lines. A push token belongs to the device, and a token that APNs finally refuses is removed.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportRemovals } from '../../../activities/wallets/apple/reportRemovals.activity.js';
import { repushStale } from '../../../activities/wallets/apple/repush.activity.js';
import { updateAll } from '../../../platform/mongodb/updateMany.js';
import { until } from '../../rig/checks/until.js';
import { type Customer, type Customers, startCustomers } from '../../rig/start/customers.js';
import { type RealWallets, startRealWallets } from '../../rig/start/realWallets.js';
import { startTestWorker, type TestWorker } from '../../rig/start/testWorker.js';

const limits = {
  WALLET_DEVICES_PER_PASS: '3',
  WALLET_PASSES_PER_DEVICE: '4',
  WALLET_REGISTRATIONS_PER_PASS: '40',
  WALLET_CALLS_PER_ADDRESS: '200',
  WALLET_LOG_LINES_PER_PASS: '5',
  TRUST_PROXY: '1',
};
const minute = 60_000;
let real: RealWallets;
let customers: Customers;
let worker: TestWorker;
let addresses = 0;
/** By how much the clock of the service is ahead, in ms. */
let ahead = 0;

beforeAll(async () => {
  real = await startRealWallets({ env: limits, now: () => new Date(Date.now() + ahead) });
  customers = await startCustomers(real);
  worker = await startTestWorker(real.service);
});
afterAll(async () => {
  await worker.close();
  await real.stop();
  await customers.stop();
});

const newAddress = (): string => {
  addresses += 1;
  return `10.0.${Math.floor(addresses / 250)}.${1 + (addresses % 250)}`;
};

interface Ask {
  method?: string;
  token?: string;
  body?: unknown;
  address?: string;
}

const ask = (path: string, { method = 'GET', token, body, address = newAddress() }: Ask = {}): Promise<Response> =>
  fetch(`${real.service.publicUrl}/wallet/apple/v1/${path}`, {
    method,
    headers: {
      'X-Forwarded-For': address,
      ...(token !== undefined && { Authorization: `ApplePass ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

const newDevice = (): string => randomBytes(16).toString('hex');
const pathOf = ({ member }: Customer, device: string) =>
  `devices/${device}/registrations/${real.certificates.passTypeId}/${member.serialNumber}`;
const register = (customer: Customer, device: string, more: { pushToken?: string; address?: string } = {}) =>
  ask(pathOf(customer, device), {
    method: 'POST',
    token: customer.member.pass.authenticationToken,
    body: { pushToken: more.pushToken ?? `token-${device}` },
    ...(more.address !== undefined && { address: more.address }),
  });
const unregister = (customer: Customer, device: string) =>
  ask(pathOf(customer, device), { method: 'DELETE', token: customer.member.pass.authenticationToken });
const devicesOf = ({ member }: Customer) =>
  real.service.deps.collections.devices.find({ memberId: member._id }).toArray();
const memberOf = ({ member }: Customer) => real.service.deps.collections.members.findOne({ _id: member._id });
const eventsOf = ({ member }: Customer, type: 'pass.installed' | 'pass.removed') =>
  real.service.deps.collections.events.countDocuments({ memberId: member._id, type });

/** The different results of `count` calls, 20 at a time. */
async function turns(count: number, call: (turn: number) => Promise<number>): Promise<number[]> {
  const seen = new Set<number>();
  for (let from = 0; from < count; from += 20) {
    const length = Math.min(20, count - from);
    for (const one of await Promise.all(Array.from({ length }, (_, index) => call(from + index)))) seen.add(one);
  }
  return [...seen];
}

/** `deps` for an activity that runs this much later. */
const later = (ms: number) => ({ ...worker.deps, now: () => new Date(Date.now() + ms) });

describe('the registrations of a pass', () => {
  it('stay within the limit of devices: a new device replaces the one that was heard from least recently', async () => {
    const ada = await customers.join();
    const [first, second, third, fourth, fifth] = Array.from({ length: 5 }, newDevice) as [
      string,
      string,
      string,
      string,
      string,
    ];
    for (const device of [first, second, third]) expect((await register(ada, device)).status).toBe(201);
    const updates = await ask(`devices/${first}/registrations/${real.certificates.passTypeId}`);
    expect(updates.status).toBe(200);
    const named = async () => (await devicesOf(ada)).map((device) => device.deviceLibraryIdentifier).toSorted();
    expect((await register(ada, fourth)).status).toBe(201);
    expect(await named()).toEqual([first, third, fourth].toSorted());
    expect((await register(ada, fifth)).status).toBe(201);
    expect(await named()).toEqual([first, fourth, fifth].toSorted());
    expect((await register(ada, first)).status).toBe(200);
    expect((await memberOf(ada))?.deviceCount).toBe(3);
    expect([await eventsOf(ada, 'pass.installed'), await eventsOf(ada, 'pass.removed')]).toEqual([5, 2]);
    const { passUpdate } = await customers.points(ada, { delta: 1 });
    expect(passUpdate?.apple).toMatchObject({ devicesAttempted: 3 });
  });

  it('stay within the limit of devices for concurrent requests', async () => {
    const ada = await customers.join();
    const devices = Array.from({ length: 8 }, newDevice);
    const statuses = await Promise.all(devices.map(async (device) => (await register(ada, device)).status));
    expect(statuses).toEqual(Array(8).fill(201));
    expect([(await devicesOf(ada)).length, (await memberOf(ada))?.deviceCount]).toEqual([3, 3]);
  });

  it('are refused above the limit of passes for one device', async () => {
    const device = newDevice();
    const statuses: number[] = [];
    for (let pass = 0; pass < 5; pass += 1) statuses.push((await register(await customers.join(), device)).status);
    expect(statuses).toEqual([201, 201, 201, 201, 400]);
  });

  it('are refused above the limit a minute for one pass; another pass is not affected', async () => {
    const [ada, bob] = [await customers.join(), await customers.join()];
    const device = newDevice();
    const statuses: number[] = [];
    for (let turn = 0; turn < 42; turn += 1) statuses.push((await register(ada, device)).status);
    expect(statuses).toEqual([201, ...Array(39).fill(200), 429, 429]);
    const refused = await unregister(ada, device);
    expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([429, expect.any(Number)]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await register(bob, device)).status).toBe(201);
    // Requests without the token of the pass do not count against its limit.
    const wrong = { method: 'POST', token: 'wrong', body: { pushToken: 'a' } };
    expect(await turns(45, async () => (await ask(pathOf(bob, device), wrong)).status)).toEqual([401]);
    expect((await register(bob, device)).status).toBe(200);
  });

  it('without the token of a pass are refused above the limit a minute for one address; with it they are not', async () => {
    const ada = await customers.join();
    const address = newAddress();
    const stranger = (turn: number) =>
      ask(`devices/${newDevice()}/registrations/${real.certificates.passTypeId}/${crypto.randomUUID()}`, {
        method: turn % 2 === 0 ? 'POST' : 'DELETE',
        token: 'wrong',
        address,
      });
    expect(await turns(200, async (turn) => (await stranger(turn)).status)).toEqual([404]);
    expect((await stranger(0)).status).toBe(429);
    expect((await register(ada, newDevice(), { address })).status).toBe(201);
    expect((await ask('log', { method: 'POST', body: { logs: ['x'] }, address })).status).toBe(429);
    const token = ada.member.pass.authenticationToken;
    expect((await ask(pathOf(ada, newDevice()), { method: 'DELETE', token: `${token}x`, address })).status).toBe(429);
  });
});

describe('the reads of phones and browsers', () => {
  const passOf = ({ member }: Customer) => `passes/${real.certificates.passTypeId}/${member.serialNumber}`;
  const listOf = (device: string) => `devices/${device}/registrations/${real.certificates.passTypeId}`;
  const open = async (path: string, address: string) =>
    (await fetch(`${real.service.publicUrl}${path}`, { headers: { 'X-Forwarded-For': address } })).status;
  const callBack = async (body: string, address: string) => {
    const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': address };
    return (await fetch(`${real.service.publicUrl}/wallet/google/callback`, { method: 'POST', headers, body })).status;
  };

  it('that guess are counted together by address; phones and cards behind the address are not refused', async () => {
    const ada = await customers.join();
    const [device, address] = [newDevice(), newAddress()];
    await register(ada, device);
    const guesses: (() => Promise<number>)[] = [
      async () => (await ask(passOf(ada), { token: 'wrong', address })).status,
      async () => (await ask(listOf(newDevice()), { address })).status,
      () => open(`/passes/${newDevice()}`, address),
      () => open(`/passes/${newDevice()}.json`, address),
      () => open(`/passes/${newDevice()}.pkpass`, address),
      () => open(`/enroll/${newDevice()}`, address),
      () => open(`/wallet/images/${newDevice()}/logo.png`, address),
      () => callBack('{}', address),
      () => callBack('{"protocolVersion":', address),
    ];
    const statuses = [401, 204, 404, 404, 404, 404, 404, 401, 400];
    for (const [index, guess] of guesses.entries()) expect(await turns(22, guess)).toEqual([statuses[index]]);
    for (let left = 200 - 22 * guesses.length; left > 0; left -= 1) await guesses[0]?.();
    for (const guess of guesses) expect(await guess()).toBe(429);
    const token = ada.member.pass.authenticationToken;
    expect((await ask(passOf(ada), { token, address })).status).toBe(200);
    expect((await ask(listOf(device), { address })).status).toBe(200);
    expect(await open(`/passes/${ada.member.pass.token}`, address)).toBe(200);
  });

  it('with a token are counted by pass, lists by device, and web cards by card, from all addresses together', async () => {
    const [ada, bob] = [await customers.join(), await customers.join()];
    const [device, other] = [newDevice(), newDevice()];
    await register(ada, device);
    await register(bob, other);
    const fetching = async ({ member, ...customer }: Customer) =>
      (await ask(passOf({ member, ...customer }), { token: member.pass.authenticationToken })).status;
    const listing = async (of: string) => (await ask(listOf(of))).status;
    const showing = ({ member }: Customer) => open(`/passes/${member.pass.token}.json`, newAddress());
    // Who joined has opened the card already.
    expect(await turns(190, () => showing(ada))).toEqual([200]);
    await turns(10, () => showing(ada));
    expect(await showing(ada)).toBe(429);
    expect(await turns(200, () => fetching(ada))).toEqual([200]);
    expect(await fetching(ada)).toBe(429);
    expect(await turns(200, () => listing(device))).toEqual([200]);
    expect(await listing(device)).toBe(429);
    expect([await fetching(bob), await listing(other), await showing(bob)]).toEqual([200, 200, 200]);
  });
});

describe('a pass that is added and removed repeatedly', () => {
  const loops = 15;

  it.each([
    ['by one device', (device: string) => device],
    ['by ever new devices', () => newDevice()],
  ])('%s causes few events, and the last one has the final state', async (_, deviceOf) => {
    const ada = await customers.join();
    const first = newDevice();
    for (let loop = 0; loop < loops; loop += 1) {
      const device = deviceOf(first);
      expect((await register(ada, device)).status).toBe(201);
      expect((await unregister(ada, device)).status).toBe(200);
    }
    expect([(await devicesOf(ada)).length, (await memberOf(ada))?.deviceCount]).toEqual([0, 0]);
    const reported = async () => [await eventsOf(ada, 'pass.installed'), await eventsOf(ada, 'pass.removed')];
    expect(await reported()).toEqual([4, 3]);
    await reportRemovals(later(9 * minute));
    expect(await reported()).toEqual([4, 3]);
    await reportRemovals(later(11 * minute));
    await reportRemovals(later(11 * minute));
    expect(await reported()).toEqual([4, 4]);
  });

  it('and is finally on the phone has no later event about a removal', async () => {
    const ada = await customers.join();
    const device = newDevice();
    for (let loop = 0; loop < loops; loop += 1) {
      await register(ada, device);
      await unregister(ada, device);
    }
    expect((await register(ada, device)).status).toBe(201);
    await reportRemovals(later(11 * minute));
    expect([await eventsOf(ada, 'pass.installed'), await eventsOf(ada, 'pass.removed')]).toEqual([4, 3]);
    expect([(await devicesOf(ada)).length, (await memberOf(ada))?.deviceCount]).toEqual([1, 1]);
    const { passUpdate } = await customers.points(ada, { delta: 1 });
    expect(passUpdate?.apple).toMatchObject({ devicesNotified: 1, devicesAttempted: 1 });
  });
});

describe('a push token', () => {
  const tokensOf = async (customer: Customer) => (await devicesOf(customer)).map(({ pushToken }) => pushToken);

  it('that changes with one pass applies to all passes of the device, and to no other device', async () => {
    const program = await real.merchant.program();
    const [ada, bob, eve] = [await customers.join(program), await customers.join(), await customers.join(program)];
    const [device, other] = [newDevice(), newDevice()];
    for (const customer of [ada, bob]) await register(customer, device, { pushToken: 'old' });
    await register(bob, other, { pushToken: 'others' });
    expect((await register(ada, device, { pushToken: 'new' })).status).toBe(200);
    expect([await tokensOf(ada), await tokensOf(bob)]).toEqual([['new'], ['new', 'others']]);
    // The first registration of another pass reports the token too.
    expect((await register(eve, device, { pushToken: 'newest' })).status).toBe(201);
    expect([await tokensOf(ada), await tokensOf(bob)]).toEqual([['newest'], ['newest', 'others']]);
    await customers.points(bob, { delta: 1 });
    const pushed = real.apns.pushes.map(({ pushToken }) => pushToken);
    expect([pushed.includes('old'), pushed.includes('new'), pushed.includes('newest')]).toEqual([false, false, true]);
    // A phone with the newest version needs no further push and is not stale.
    for (const at of [2, 20, 400, 402]) await repushStale(later(at * minute));
    expect((await devicesOf(ada)).map(({ stale }) => stale)).toEqual([undefined]);
  });

  it.each(['BadDeviceToken', 'DeviceTokenNotForTopic'])(
    'that APNs refuses twice with %s is removed when APNs accepts others, and the merchant gets an event',
    async (reason) => {
      const [ada, bob] = [await customers.join(), await customers.join()];
      const [bad, good] = [await customers.install(ada), await customers.install(bob)];
      real.apns.answer(bad.pushToken(), { status: 400, reason });
      for (const phone of [bad, good]) phone.goOffline();
      for (const customer of [ada, bob]) await customers.points(customer, { delta: 1 });
      expect((await devicesOf(ada)).map(({ lastPush }) => lastPush?.reason)).toEqual([reason]);
      await repushStale(later(minute + 5_000));
      expect([(await devicesOf(ada)).length, (await devicesOf(bob)).length]).toEqual([0, 1]);
      expect((await memberOf(ada))?.deviceCount).toBe(0);
      expect(await eventsOf(ada, 'pass.removed')).toBe(1);
      const before = real.apns.pushes.length;
      expect((await customers.points(ada, { delta: 1 })).passUpdate?.apple.devicesAttempted).toBe(0);
      expect(real.apns.pushes.length).toBe(before);
    },
  );

  it('that APNs refuses is removed after a minute of changes every 20 s, when APNs accepts another', async () => {
    const ada = await customers.join();
    const [bad, good] = [await customers.install(ada), await customers.install(ada)];
    real.apns.answer(bad.pushToken(), { status: 400, reason: 'BadDeviceToken' });
    for (const phone of [bad, good]) phone.goOffline();
    const left: number[] = [];
    for (const seconds of [0, 20, 40, 65, 85]) {
      ahead = seconds * 1_000;
      await customers.points(ada, { delta: 1 });
      left.push((await devicesOf(ada)).length);
    }
    ahead = 0;
    expect(left).toEqual([2, 2, 2, 1, 1]);
    expect(await eventsOf(ada, 'pass.removed')).toBe(1);
  });

  it('that APNs refuses together with all others is kept, because the configuration may be wrong', async () => {
    // No phone of another test is pushed again.
    const where = { recheckAt: { $exists: true } };
    await updateAll(real.service.deps, 'devices', { where, change: { $unset: { recheckAt: '' } } });
    const ada = await customers.join();
    const phones = [await customers.install(ada), await customers.install(ada)];
    for (const phone of phones) {
      phone.goOffline();
      real.apns.answer(phone.pushToken(), { status: 400, reason: 'BadDeviceToken' });
    }
    await customers.points(ada, { delta: 1 });
    const alone = await startTestWorker(real.service);
    for (const at of [2, 20, 400]) await repushStale({ ...alone.deps, now: () => new Date(Date.now() + at * minute) });
    await alone.close();
    expect((await devicesOf(ada)).length).toBe(2);
    expect(customers.receivedSoFar(ada, 'pass.removed')).toEqual([]);
  });

  it('that was replaced while APNs reported it as gone keeps the registration', async () => {
    const ada = await customers.join();
    const device = newDevice();
    await register(ada, device, { pushToken: 'was-gone' });
    real.apns.answer('was-gone', { status: 410, reason: 'Unregistered', delayMs: 1_000 });
    const pushing = customers.points(ada, { delta: 1 });
    await until(() => real.apns.pushes.some(({ pushToken }) => pushToken === 'was-gone'));
    await register(ada, device, { pushToken: 'is-here' });
    await pushing;
    expect(await tokensOf(ada)).toEqual(['is-here']);
  });
});

describe('the log lines of phones', () => {
  const log = (logs: string[], address?: string) =>
    ask('log', { method: 'POST', body: { logs }, ...(address !== undefined && { address }) });
  const kept = (filter: Record<string, unknown>) => real.service.deps.collections.deviceLogs.countDocuments(filter);

  it('are stored up to a limit for each pass: a flood about one pass, or about none, hides no other pass', async () => {
    const [ada, bob] = [await customers.join(), await customers.join()];
    const about = ({ member }: Customer) => `cannot update ${member.serialNumber}`;
    for (let call = 0; call < 4; call += 1) {
      await log(Array(20).fill(about(ada)));
      await log(
        Array.from({ length: 20 }, () => `flood ${crypto.randomUUID()}`),
        '10.9.9.9',
      );
    }
    expect((await log([about(ada)])).status).toBe(429);
    expect((await log(['flood'], '10.9.9.9')).status).toBe(429);
    expect((await log(['flood', about(bob)], '10.9.9.9')).status).toBe(200);
    const counts = [ada, bob].map(({ member }) => kept({ serialNumber: member.serialNumber }));
    expect(await Promise.all(counts)).toEqual([5, 1]);
    expect(await kept({ message: /^flood/ })).toBe(5);
    expect(await kept({ serialNumber: { $exists: true } })).toBe(6);
  });
});
