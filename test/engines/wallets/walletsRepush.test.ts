// Apple may drop a push, so phones that do not fetch get further pushes after 1 min, 15 min and 6 h and are then marked
// stale. The test advances the clock; everything else is real.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countStaleDevices } from '../../../activities/events/outbox.reads.js';
import { repushStale } from '../../../activities/wallets/apple/repush.activity.js';
import { taskQueues } from '../../../schemas/tables/workflows.js';
import type { DeviceRow } from '../../../schemas/wallets/wallets.rows.js';
import { pastCache } from '../../rig/checks/pastCache.js';
import { until } from '../../rig/checks/until.js';
import type { VirtualIphone } from '../../rig/standins/virtualIphone.js';
import { type Customer, type Customers, startCustomers } from '../../rig/start/customers.js';
import { type RealWallets, startRealWallets } from '../../rig/start/realWallets.js';
import { startTestWorker, type TestWorker } from '../../rig/start/testWorker.js';

let real: RealWallets;
let customers: Customers;
let worker: TestWorker;
let laterMs = 0;

beforeAll(async () => {
  real = await startRealWallets();
  customers = await startCustomers(real);
  worker = await startTestWorker(real.service);
});
afterAll(async () => {
  await worker.close();
  await real.stop();
  await customers.stop();
});

const minute = 60_000;
const hour = 60 * minute;

/** Runs the activity that the schedule starts, at a time `afterMs` later. */
const look = (afterMs: number) => {
  laterMs = afterMs;
  return repushStale({ ...worker.deps, now: () => new Date(Date.now() + laterMs) });
};

const deviceOf = async ({ member }: Customer): Promise<DeviceRow> =>
  until(() => real.service.deps.collections.devices.findOne({ memberId: member._id }));

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
  it('gets further pushes after 1 min, 15 min and 6 h, and is then stale', async () => {
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
    expect(await countStaleDevices(worker.deps)).toBe(1);
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
    expect(await countStaleDevices(worker.deps)).toBe(0);
  });

  it('is counted from an index when it is stale', async () => {
    const { queryPlanner } = await worker.deps.collections.devices.find({ stale: true }).explain('queryPlanner');
    expect(queryPlanner.winningPlan.inputStage).toMatchObject({ stage: 'IXSCAN', keyPattern: { stale: 1 } });
  });

  it('gets no further push when it has fetched, or has the newest version', async () => {
    const { customer, phone } = await deaf();
    await phone.goOnline();
    await phone.settled();
    expect(await look(hour)).toEqual({ pushed: 0, stale: 0 });
    expect([pushesTo(phone), (await deviceOf(customer)).recheckAt]).toEqual([1, undefined]);
  });

  it('starts again with each change', async () => {
    const { customer, phone } = await deaf();
    await look(minute + 1_000);
    await customers.points(customer, { delta: 1 });
    await look(minute + 1_000);
    expect(pushesTo(phone)).toBe(4);
    expect((await deviceOf(customer)).recheckRound).toBe(1);
  });

  it('loses its registration when APNs reports it gone, and the merchant gets an event', async () => {
    const { customer, phone } = await deaf();
    real.apns.answer(phone.pushToken(), { status: 410, reason: 'Unregistered' });
    await look(minute + 1_000);
    const { devices, events } = real.service.deps.collections;
    const memberId = customer.member._id;
    expect(await devices.countDocuments({ memberId })).toBe(0);
    expect(await events.find({ memberId, type: 'pass.removed' }).toArray()).toMatchObject([
      { state: 'new', leaseOwner: '' },
    ]);
  });

  it('gets all of its pushes, later, when APNs has a fault', async () => {
    const { customer, phone } = await deaf();
    real.apns.answer(phone.pushToken(), { status: 503, reason: 'ServiceUnavailable' }, { status: 200 });
    await look(minute + 1_000);
    expect((await deviceOf(customer)).recheckRound).toBe(0);
    expect(await look(3 * minute)).toMatchObject({ pushed: 1 });
    expect((await deviceOf(customer)).recheckRound).toBe(1);
  });

  it('delays no other phone of the same member', async () => {
    const { customer, phone } = await deaf();
    const other = await customers.install(customer);
    await customers.points(customer, { delta: 1 });
    await until(() => other.history().at(-1)?.balance === 2);
    const before = pushesTo(other);
    await look(minute + 1_000);
    expect([pushesTo(phone), pushesTo(other) - before]).toEqual([3, 0]);
  });

  it('gets no further push when its program pushes no messages any more', async () => {
    const { customer, phone } = await deaf();
    const { programs } = real.service.deps.collections;
    await programs.updateOne({ _id: customer.program._id }, { $set: { pushMessages: false } });
    await pastCache();
    await look(minute + 1_000);
    expect(pushesTo(phone)).toBe(1);
  });
});

describe('a phone that cannot be checked', () => {
  it('delays no other phone, and is checked again later', async () => {
    const { programs } = real.service.deps.collections;
    const broken = await deaf();
    const other = await deaf();
    await programs.updateOne({ _id: broken.customer.program._id }, { $set: { merchantId: 'another' } });
    await pastCache();
    await look(minute + 1_000);
    expect([pushesTo(broken.phone), pushesTo(other.phone)]).toEqual([1, 2]);
    await programs.updateOne({ _id: broken.customer.program._id }, { $set: { merchantId: real.merchant.id } });
    await pastCache();
    await look(3 * minute);
    expect(pushesTo(broken.phone)).toBe(2);
  });
});

describe('the workflow that a schedule starts', () => {
  it('does the same', async () => {
    const { customer, phone } = await deaf();
    const { devices } = real.service.deps.collections;
    await devices.updateOne({ memberId: customer.member._id }, { $set: { recheckAt: new Date() } });
    const run = { workflowId: `repush-${customer.member._id}`, taskQueue: taskQueues.workflows };
    await real.service.client.workflow.execute('repushPasses', run);
    expect(pushesTo(phone)).toBe(2);
  });
});

describe('a new push token', () => {
  it('gets a push soon when the phone may have missed one under the old token', async () => {
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
  it('gets a push soon after its registration', async () => {
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
