// A push is a hint that Apple may drop: phones that do not fetch are pushed again after 1 min, 15 min and 6 h, and then
// called stale. The clock is turned by hand; everything else is real.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repushStale } from '../../activities/wallets/repush.js';
import type { DeviceRow } from '../../schemas/collections.js';
import { taskQueues } from '../../schemas/workflows.js';
import { type Customer, type Customers, startCustomers } from '../rig/customers.js';
import { type Effects, startEffects } from '../rig/effects.js';
import { type RealWallets, startRealWallets } from '../rig/realWallets.js';
import { until } from '../rig/service.js';
import type { VirtualIphone } from '../rig/virtualIphone.js';

let real: RealWallets;
let customers: Customers;
let effects: Effects;
let laterMs = 0;

beforeAll(async () => {
  real = await startRealWallets();
  customers = await startCustomers(real);
  effects = await startEffects(real.service);
});
afterAll(async () => {
  await effects.close();
  await real.stop();
  await customers.stop();
});

const minute = 60_000;
const hour = 60 * minute;

/** What the schedule starts, as if it were so much later. */
const look = (afterMs: number) => {
  laterMs = afterMs;
  return repushStale({ ...effects.deps, now: () => new Date(Date.now() + laterMs) });
};

const deviceOf = async ({ member }: Customer): Promise<DeviceRow> =>
  until(() => real.service.store.rows.devices.findOne({ memberId: member._id }));

const pushesTo = (phone: VirtualIphone): number =>
  real.apns.pushes.filter(({ pushToken }) => pushToken === phone.pushToken()).length;

/** A phone that got the push and never fetched. */
async function deaf(): Promise<{ customer: Customer; phone: VirtualIphone }> {
  const customer = await customers.join();
  const phone = await customers.install(customer);
  phone.goOffline();
  const { passUpdate } = await customers.points(customer, { delta: 1 });
  expect(passUpdate?.apple.devicesNotified).toBe(1);
  return { customer, phone };
}

describe('a phone that does not fetch', () => {
  it('is pushed again after 1 min, 15 min and 6 h, and then stale', async () => {
    const { customer, phone } = await deaf();
    const done: [number, number, boolean][] = [];
    for (const at of [minute / 2, minute, 5 * minute, 15 * minute, hour, 6 * hour, 6 * hour + minute, 24 * hour]) {
      await look(at + 2_000);
      done.push([at, pushesTo(phone), (await deviceOf(customer)).stale === true]);
    }
    expect(done).toEqual([
      [minute / 2, 1, false],
      [minute, 2, false],
      [5 * minute, 2, false],
      [15 * minute, 3, false],
      [hour, 3, false],
      [6 * hour, 4, false],
      [6 * hour + minute, 4, true],
      [24 * hour, 4, true],
    ]);
    const { body } = await real.merchant.call(`/merchants/me/members/${customer.member._id}/pass`);
    expect(body.data.apple.devices[0].stale).toBe(true);
    expect(body.data.findings).toContainEqual(expect.stringContaining('has not fetched'));
    expect((await customers.timeline(customer, 'push_sent')).map(({ detail }) => detail)).toEqual([
      '1 of 1 devices',
      'again, not fetched after 1 min',
      'again, not fetched after 15 min',
      'again, not fetched after 6 h',
    ]);
    expect(await customers.timeline(customer, 'device_stale')).toMatchObject([{ outcome: 'failure' }]);

    await phone.goOnline();
    await phone.settled();
    expect(phone.history().at(-1)?.balance).toBe(1);
    expect((await deviceOf(customer)).stale).toBeUndefined();
  });

  it('is left alone as soon as it fetches, or finds that it has the newest version', async () => {
    const { customer, phone } = await deaf();
    await phone.goOnline();
    await phone.settled();
    expect(await look(hour)).toEqual({ pushed: 0, stale: 0 });
    expect([pushesTo(phone), (await deviceOf(customer)).recheckAt]).toEqual([1, undefined]);
  });

  it('begins anew with each change', async () => {
    const { customer, phone } = await deaf();
    await look(minute + 1_000);
    await customers.points(customer, { delta: 1 });
    await look(minute + 1_000);
    expect(pushesTo(phone)).toBe(4);
    expect((await deviceOf(customer)).recheckRound).toBe(1);
  });

  it('ends its registration when APNs says that it is gone, and the merchant hears of it', async () => {
    const { customer, phone } = await deaf();
    real.apns.answer(phone.pushToken(), { status: 410, reason: 'Unregistered' });
    await look(minute + 1_000);
    const { devices, events } = real.service.store.rows;
    const memberId = customer.member._id;
    expect(await devices.countDocuments({ memberId })).toBe(0);
    expect(await events.find({ memberId, type: 'pass.removed' }).toArray()).toMatchObject([
      { state: 'new', holder: '' },
    ]);
  });

  it('is tried again, without losing a turn, while APNs is in trouble', async () => {
    const { customer, phone } = await deaf();
    real.apns.answer(phone.pushToken(), { status: 503, reason: 'ServiceUnavailable' }, { status: 200 });
    await look(minute + 1_000);
    expect((await deviceOf(customer)).recheckRound).toBe(0);
    expect(await look(3 * minute)).toMatchObject({ pushed: 1 });
    expect((await deviceOf(customer)).recheckRound).toBe(1);
  });

  it('holds up no other phone of the same member', async () => {
    const { customer, phone } = await deaf();
    const other = await customers.install(customer);
    await customers.points(customer, { delta: 1 });
    await until(() => other.history().at(-1)?.balance === 2);
    const before = pushesTo(other);
    await look(minute + 1_000);
    expect([pushesTo(phone), pushesTo(other) - before]).toEqual([3, 0]);
  });

  it('is not pushed when its program has ceased to push', async () => {
    const { customer, phone } = await deaf();
    const { programs } = real.service.store.rows;
    await programs.updateOne({ _id: customer.program._id }, { $set: { pushMessages: false } });
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await look(minute + 1_000);
    expect(pushesTo(phone)).toBe(1);
  });
});

describe('the workflow that a schedule starts', () => {
  it('does the same', async () => {
    const { customer, phone } = await deaf();
    const { devices } = real.service.store.rows;
    await devices.updateOne({ memberId: customer.member._id }, { $set: { recheckAt: new Date() } });
    const run = { workflowId: `repush-${customer.member._id}`, taskQueue: taskQueues.gestures };
    await real.service.client.workflow.execute('repushPasses', run);
    expect(pushesTo(phone)).toBe(2);
  });
});

describe('a new push token', () => {
  it('is pushed soon when the phone may have missed something under the old one', async () => {
    const customer = await customers.join();
    const { serialNumber, pass } = customer.member;
    const { passTypeId } = real.certificates;
    const register = (pushToken: string) =>
      real.merchant.call(
        `${real.service.publicUrl}/wallet/apple/v1/devices/a-device/registrations/${passTypeId}/${serialNumber}`,
        { body: { pushToken }, headers: { Authorization: `ApplePass ${pass.authenticationToken}` }, credential: null },
      );
    expect((await register('old-token')).status).toBe(201);
    await customers.points(customer, { delta: 1 });
    expect((await register('new-token')).status).toBe(200);
    expect(await look(1_000)).toMatchObject({ pushed: 1 });
    expect(real.apns.pushes.map(({ pushToken }) => pushToken).filter((token) => token.endsWith('-token'))).toEqual([
      'old-token',
      'new-token',
    ]);
  });
});

describe('a pass that changed while it was being added', () => {
  it('is pushed soon after its registration', async () => {
    const customer = await customers.join();
    const phone = real.phone();
    const download = await fetch(customer.appleUrl ?? '');
    await customers.points(customer, { delta: 1 });
    await phone.install(Buffer.from(await download.arrayBuffer()));
    expect(phone.history().at(-1)?.balance).toBe(0);
    await look(1_000);
    await until(() => phone.history().at(-1)?.balance === 1);
  });
});
