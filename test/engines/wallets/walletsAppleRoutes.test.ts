// Apple's web service as Apple documents it, route by route, and the four sequences in which other servers lose updates
// (docs/protocols/apple-wallet.md#2-versions-and-tags).

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { updateAll } from '../../../platform/mongodb/updateMany.js';
import { openPkpass } from '../../rig/checks/pkpass.js';
import { until } from '../../rig/checks/until.js';
import { type Customer, type Customers, startCustomers } from '../../rig/start/customers.js';
import { type RealWallets, startRealWallets } from '../../rig/start/realWallets.js';

let real: RealWallets;
let customers: Customers;

beforeAll(async () => {
  real = await startRealWallets();
  customers = await startCustomers(real);
});
afterAll(async () => {
  await real.stop();
  await customers.stop();
});

interface Ask {
  method?: string;
  token?: string | null;
  body?: unknown;
  headers?: Record<string, string>;
}

const ask = (path: string, { method = 'GET', token = null, body, headers = {} }: Ask = {}): Promise<Response> =>
  fetch(`${real.service.publicUrl}/wallet/apple/v1/${path}`, {
    method,
    headers: {
      ...(token !== null && { Authorization: `ApplePass ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });

const passPath = ({ member }: Customer): string => `passes/${real.certificates.passTypeId}/${member.serialNumber}`;
const devicePath = (device: string): string => `devices/${device}/registrations/${real.certificates.passTypeId}`;
const tokenOf = ({ member }: Customer): string => member.pass.authenticationToken;
const newDevice = (): string => randomBytes(16).toString('hex');

const register = (customer: Customer, device: string, pushToken: unknown = 'a-push-token') =>
  ask(`${devicePath(device)}/${customer.member.serialNumber}`, {
    method: 'POST',
    token: tokenOf(customer),
    body: { pushToken },
  });

describe('a registration', () => {
  it('is 201 the first time and 200 from then on, with one pass.installed', async () => {
    const ada = await customers.join();
    const device = newDevice();
    const statuses = [];
    for (let turn = 0; turn < 3; turn += 1) statuses.push((await register(ada, device)).status);
    expect(statuses).toEqual([201, 200, 200]);
    await Promise.all([1, 2, 3].map(() => register(ada, device)));
    await customers.received(ada, 'pass.installed', 1);
    await customers.points(ada, { delta: 1 });
    await customers.received(ada, 'points.changed', 1);
    expect(customers.receivedSoFar(ada, 'pass.installed')).toHaveLength(1);
  });

  it('is made once by concurrent calls of one device', async () => {
    const ada = await customers.join();
    const device = newDevice();
    const answers = await Promise.all(Array.from({ length: 6 }, () => register(ada, device)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201]);
    expect(await real.service.deps.collections.devices.countDocuments({ memberId: ada.member._id })).toBe(1);
  });

  it('is refused with a wrong token, for an unknown pass, and with an invalid body', async () => {
    const [ada, bob] = [await customers.join(), await customers.join()];
    const device = newDevice();
    const path = `${devicePath(device)}/${ada.member.serialNumber}`;
    const body = { pushToken: 'a-push-token' };
    const wrong: [string, Ask, number][] = [
      [path, { body }, 401],
      [path, { body, token: 'wrong' }, 401],
      [path, { body, token: tokenOf(bob) }, 401],
      [path, { body, headers: { Authorization: `Bearer ${tokenOf(ada)}` } }, 401],
      [`${devicePath(device)}/${crypto.randomUUID()}`, { body, token: tokenOf(ada) }, 404],
      [`${devicePath(device)}/not-a-serial`, { body, token: tokenOf(ada) }, 404],
      [path.replace(real.certificates.passTypeId, 'pass.com.other'), { body, token: tokenOf(ada) }, 404],
      [path, { token: tokenOf(ada), body: {} }, 400],
      [path, { token: tokenOf(ada), body: { pushToken: 7 } }, 400],
      [path, { token: tokenOf(ada), body: { pushToken: '' } }, 400],
      [path, { token: tokenOf(ada), body: { pushToken: { $ne: '' } } }, 400],
      [path, { token: tokenOf(ada), body: '{"pushToken":' }, 400],
      [path, { token: tokenOf(ada) }, 400],
    ];
    for (const [to, how, status] of wrong)
      expect([to, how, (await ask(to, { method: 'POST', ...how })).status]).toEqual([to, how, status]);
    expect(await real.service.deps.collections.devices.countDocuments({ memberId: ada.member._id })).toBe(0);
  });

  it('is removed by the same path, once, with one pass.removed; a wrong token removes nothing', async () => {
    const ada = await customers.join();
    const device = newDevice();
    await register(ada, device);
    const path = `${devicePath(device)}/${ada.member.serialNumber}`;
    const refused = await ask(path, { method: 'DELETE', token: 'wrong' });
    expect([refused.status, (await ask(devicePath(device))).status]).toEqual([401, 200]);
    const undone = [];
    for (let turn = 0; turn < 2; turn += 1)
      undone.push((await ask(path, { method: 'DELETE', token: tokenOf(ada) })).status);
    expect([...undone, (await ask(devicePath(device))).status]).toEqual([200, 200, 204]);
    expect(await customers.received(ada, 'pass.removed', 1)).toHaveLength(1);
  });
});

describe('a list of changed passes', () => {
  it('is 204 for an unknown device, and has all passes for a device without a tag or with an unknown tag', async () => {
    const program = await real.merchant.program();
    const [ada, bob] = [await customers.join(program), await customers.join(program)];
    const device = newDevice();
    expect((await ask(devicePath(device))).status).toBe(204);
    await register(ada, device);
    await register(bob, device);
    const serials = [ada.member.serialNumber, bob.member.serialNumber].sort();
    for (const tag of [
      '',
      '?passesUpdatedSince=1',
      '?passesUpdatedSince=7316',
      '?passesUpdatedSince=2999-01-01T00:00:00.000Z',
    ]) {
      const answer = await ask(`${devicePath(device)}${tag}`);
      expect(answer.status).toBe(200);
      expect(((await answer.json()) as { serialNumbers: string[] }).serialNumbers.sort()).toEqual(serials);
    }
    expect((await ask(devicePath(device).replace(real.certificates.passTypeId, 'pass.com.other'))).status).toBe(204);
  });

  it('has tags that need no escaping in a URL, and is 204 for the newest tag', async () => {
    const ada = await customers.join();
    const device = newDevice();
    await register(ada, device);
    const { lastUpdated } = (await (await ask(devicePath(device))).json()) as { lastUpdated: string };
    expect(new URL(`http://x/?t=${lastUpdated}`).searchParams.get('t')).toBe(lastUpdated);
    expect((await ask(`${devicePath(device)}?passesUpdatedSince=${lastUpdated}`)).status).toBe(204);
    const { passUpdate } = await customers.points(ada, { delta: 1 });
    const news = await ask(`${devicePath(device)}?passesUpdatedSince=${lastUpdated}`);
    expect(await news.json()).toEqual({
      serialNumbers: [ada.member.serialNumber],
      lastUpdated: passUpdate?.lastUpdateTag,
    });
  });
});

describe('a fetch of a pass', () => {
  it('returns the signed pass, HEAD without the body, 304 for the newest version; it adds no row without a push', async () => {
    const ada = await customers.join();
    const device = newDevice();
    await register(ada, device);
    const fetched = await ask(passPath(ada), { token: tokenOf(ada) });
    expect([fetched.status, fetched.headers.get('content-type')]).toEqual([200, 'application/vnd.apple.pkpass']);
    const bytes = Buffer.from(await fetched.arrayBuffer());
    expect((await openPkpass(bytes, real.certificates.wwdrCert)).json.serialNumber).toBe(ada.member.serialNumber);
    const modified = fetched.headers.get('last-modified') ?? '';

    const head = await ask(passPath(ada), { method: 'HEAD', token: tokenOf(ada) });
    expect([head.status, head.headers.get('last-modified'), (await head.arrayBuffer()).byteLength]).toEqual([
      200,
      modified,
      0,
    ]);
    const same = await ask(passPath(ada), { token: tokenOf(ada), headers: { 'If-Modified-Since': modified } });
    expect([same.status, same.headers.get('last-modified'), await same.text()]).toEqual([304, modified, '']);
    const odd = await ask(passPath(ada), { token: tokenOf(ada), headers: { 'If-Modified-Since': 'yesterday' } });
    expect(odd.status).toBe(200);

    const before = await real.service.deps.collections.devices.findOne({ deviceLibraryIdentifier: device });
    expect(before?.fetchedTag).toEqual(ada.member.pass.tag);
    await ask(passPath(ada), { token: tokenOf(ada) });
    expect(await real.service.deps.collections.devices.findOne({ deviceLibraryIdentifier: device })).toEqual(before);
  });

  it("is refused without the pass's own token, and 404 for another type or serial", async () => {
    const [ada, bob] = [await customers.join(), await customers.join()];
    const statuses = await Promise.all([
      ask(passPath(ada)),
      ask(passPath(ada), { token: tokenOf(bob) }),
      ask(passPath(ada).replace(real.certificates.passTypeId, 'pass.com.other'), { token: tokenOf(ada) }),
      ask(`passes/${real.certificates.passTypeId}/${crypto.randomUUID()}`, { token: tokenOf(ada) }),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([401, 401, 404, 404]);
  });
});

describe('the log lines of phones', () => {
  it('are stored, limited in size, and found by the pass that they name', async () => {
    const ada = await customers.join();
    const { serialNumber } = ada.member;
    const lines = [
      `cannot update ${serialNumber}`,
      'x'.repeat(5_000),
      ...Array.from({ length: 50 }, (_, at) => `${at}`),
    ];
    expect((await ask('log', { method: 'POST', body: { logs: lines } })).status).toBe(200);
    for (const body of ['', {}, { logs: 'text' }, { logs: [1] }, '{'])
      expect((await ask('log', { method: 'POST', body })).status).toBe(400);
    const { deviceLogs } = real.service.deps.collections;
    expect(await deviceLogs.find({ serialNumber }).toArray()).toMatchObject([{ message: lines[0] }]);
    const all = await deviceLogs.find({}).toArray();
    expect(all).toHaveLength(20);
    expect(Math.max(...all.map(({ message }) => message.length))).toBe(1_000);
    const kept = await deviceLogs.indexes();
    expect(kept.find(({ key }) => Object.keys(key).join() === 'receivedAt')?.expireAfterSeconds).toBe(7 * 86_400);
  });
});

describe('an update is not lost', () => {
  it('when the push token changes: the next push goes to the new token, and so does one that the old token missed', async () => {
    const ada = await customers.join();
    const phone = await customers.install(ada);
    const old = phone.pushToken();
    await phone.rotatePushToken();
    await customers.points(ada, { delta: 4 });
    await until(() => phone.history().at(-1)?.balance === 4);
    const pushed = real.apns.pushes.map(({ pushToken }) => pushToken);
    expect([pushed.includes(old), pushed.includes(phone.pushToken())]).toEqual([false, true]);
    expect(await customers.received(ada, 'pass.installed', 1)).toHaveLength(1);
  });

  it('when two passes of one device change at different times', async () => {
    const program = await real.merchant.program();
    const [ada, bob] = [await customers.join(program), await customers.join(program)];
    const phone = real.phone();
    for (const { appleUrl = '' } of [ada, bob]) await phone.install(appleUrl);
    phone.goOffline();
    await customers.points(ada, { delta: 1 });
    await new Promise((resolve) => setTimeout(resolve, 30));
    await customers.points(bob, { delta: 2 });
    await phone.goOnline();
    await phone.settled();
    expect(phone.history(ada.member.serialNumber).at(-1)?.balance).toBe(1);
    expect(phone.history(bob.member.serialNumber).at(-1)?.balance).toBe(2);
    await customers.points(ada, { delta: 1 });
    await until(() => phone.history(ada.member.serialNumber).at(-1)?.balance === 2);
  });

  it('when two changes come within one second', async () => {
    const ada = await customers.join();
    const device = newDevice();
    await register(ada, device);
    const headers = {
      'If-Modified-Since': (await ask(passPath(ada), { token: tokenOf(ada) })).headers.get('last-modified') ?? '',
    };
    let tag = '';
    for (const balance of [1, 2, 3]) {
      await customers.points(ada, { delta: 1 });
      const list = await ask(`${devicePath(device)}${tag && `?passesUpdatedSince=${tag}`}`);
      expect(list.status).toBe(200);
      tag = ((await list.json()) as { lastUpdated: string }).lastUpdated;
      const fetched = await ask(passPath(ada), { token: tokenOf(ada), headers });
      const { json } = await openPkpass(Buffer.from(await fetched.arrayBuffer()));
      expect(json.storeCard.headerFields?.[0]?.value).toBe(balance);
      headers['If-Modified-Since'] = fetched.headers.get('last-modified') ?? '';
    }
  });

  it('when a change was committed after a later one was already listed', async () => {
    const program = await real.merchant.program();
    const [ada, bob] = [await customers.join(program), await customers.join(program)];
    const device = newDevice();
    const { members, devices } = real.service.deps.collections;
    const longAgo = new Date(Date.now() - 3_600_000);
    await updateAll(real.service.deps, 'members', {
      where: { programId: program._id, 'pass.tag': { $ne: longAgo } },
      change: { $set: { 'pass.tag': longAgo } },
    });
    await register(ada, device);
    await register(bob, device);
    await customers.points(ada, { delta: 1 });
    const { lastUpdated } = (await (await ask(devicePath(device))).json()) as { lastUpdated: string };
    const early = new Date(Date.parse(lastUpdated) - 50);
    await members.updateOne({ _id: bob.member._id }, { $set: { 'pass.tag': early } });
    await devices.updateOne({ memberId: bob.member._id }, { $set: { registeredAt: longAgo } });
    const list = await ask(`${devicePath(device)}?passesUpdatedSince=${lastUpdated}`);
    expect(((await list.json()) as { serialNumbers: string[] }).serialNumbers).toEqual([bob.member.serialNumber]);
  });

  it('when the response that listed it was lost', async () => {
    const ada = await customers.join();
    const device = newDevice();
    await register(ada, device);
    const { lastUpdated } = (await (await ask(devicePath(device))).json()) as { lastUpdated: string };
    await customers.points(ada, { delta: 1 });
    for (let turn = 0; turn < 2; turn += 1)
      expect((await ask(`${devicePath(device)}?passesUpdatedSince=${lastUpdated}`)).status).toBe(200);
  });

  it('when it is fetched with If-Modified-Since: Last-Modified is the time of the change', async () => {
    const ada = await customers.join();
    const modifiedOf = async () =>
      Date.parse((await ask(passPath(ada), { token: tokenOf(ada) })).headers.get('last-modified') ?? '');
    const first = await modifiedOf();
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect(await modifiedOf()).toBe(first);
    await customers.points(ada, { delta: 1 });
    await customers.points(ada, { delta: 1 });
    expect((await modifiedOf()) - first).toBeGreaterThanOrEqual(2_000);
  });
});

describe('a leaked card link', () => {
  const replace = (customer: Customer, body?: object) =>
    real.merchant.call(`/merchants/me/members/${customer.member._id}/card-link`, {
      method: 'POST',
      ...(body && { body }),
    });
  const statusOf = async (url: string) => (await fetch(url)).status;
  const linkOf = ({ member }: Customer) => `${real.service.publicUrl}/passes/${member.pass.token}`;

  it('is replaced: the old one is 404 at once, and the pass on the phone keeps working', async () => {
    const ada = await customers.join();
    const device = newDevice();
    await register(ada, device);
    const old = linkOf(ada);
    expect([await statusOf(old), await statusOf(`${old}.pkpass`)]).toEqual([200, 200]);
    const { status, body } = await replace(ada);
    const { passUrl } = body.data.apple;
    expect([status, passUrl === old]).toEqual([200, false]);
    for (const path of ['', '.pkpass', '.json']) expect(await statusOf(`${old}${path}`)).toBe(404);
    for (const path of ['', '.pkpass', '.json']) expect(await statusOf(`${passUrl}${path}`)).toBe(200);
    expect((await ask(passPath(ada), { token: tokenOf(ada) })).status).toBe(200);
    expect((await register(ada, device)).status).toBe(200);
  });

  it('replaces the token of the pass on request: only the pass from the new link is served', async () => {
    const ada = await customers.join();
    const old = tokenOf(ada);
    const { body } = await replace(ada, { replaceToken: true });
    for (const path of [passPath(ada), `${passPath(ada)}?again`])
      expect((await ask(path, { token: old })).status).toBe(401);
    expect((await register(ada, newDevice())).status).toBe(401);
    const file = await fetch(`${body.data.apple.passUrl}.pkpass`);
    const { json } = await openPkpass(Buffer.from(await file.arrayBuffer()), real.certificates.wwdrCert);
    const authenticationToken = String(json.authenticationToken);
    expect(authenticationToken).not.toBe(old);
    expect((await ask(passPath(ada), { token: authenticationToken })).status).toBe(200);
    const renewed = { ...ada, member: { ...ada.member, pass: { ...ada.member.pass, authenticationToken } } };
    expect((await register(renewed, newDevice())).status).toBe(201);
  });
});
