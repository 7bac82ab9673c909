// Apple Wallet end to end: customers who joined through the public page, their phones, an APNs with all kinds of
// faults, and the merchant's events.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newMemberEvent } from '../../../activities/events/newEvent.rules.js';
import { pushLate } from '../../../activities/wallets/pushPasses.activity.js';
import { newId } from '../../../schemas/shared/ids.js';
import { makeGoogleObjectId } from '../../../schemas/wallets/google/googleIds.rules.js';
import { actionsOf } from '../../rig/checks/actions.js';
import { until } from '../../rig/checks/until.js';
import type { ApnsAnswer } from '../../rig/standins/apnsServer.js';
import { type Customer, type Customers, startCustomers } from '../../rig/start/customers.js';
import { type RealWallets, startRealWallets } from '../../rig/start/realWallets.js';
import { startTestWorker } from '../../rig/start/testWorker.js';

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

const deviceCount = async (memberId: string): Promise<number> =>
  (await real.merchant.call(`/merchants/me/members/${memberId}`)).body.data.deviceCount;

/** A version that the phone does not have, and its event, which another lease owner is about to publish. */
async function aChangeOf(customer: Customer): Promise<string> {
  const { collections } = real.service.deps;
  const change = { $set: { 'pass.tag': new Date() } };
  const member = await collections.members.findOneAndUpdate({ _id: customer.member._id }, change, {
    returnDocument: 'after',
  });
  if (!member) throw new Error('The member is gone.');
  const eventId = newId();
  const row = newMemberEvent(real.service.deps, {
    event: { type: 'member.updated', data: { changed: ['tags'], status: member.status, tags: [] } },
    ...{ eventId, member, leaseOwner: 'test', passAction: 'push' },
  });
  await collections.events.insertOne({ ...row, dueAt: new Date(Date.now() + 60_000) });
  return eventId;
}

describe('an iPhone that joined through the public page', () => {
  it('shows ten changes with message and balance, while another device is gone and one hangs', async () => {
    const ada = await customers.join();
    const phone = await customers.install(ada);
    const [gone, hanging] = [await customers.install(ada), await customers.install(ada)];
    real.apns.answer(gone.pushToken(), { status: 410, reason: 'Unregistered' });
    real.apns.answer(hanging.pushToken(), 'hang', { status: 200 });
    expect(phone.history()).toMatchObject([{ balance: 0, label: 'POINTS' }]);

    for (let turn = 1; turn <= 10; turn += 1) {
      const body = { delta: 1, changeMessage: `You have ${turn} points` };
      const { passUpdate } = await customers.points(ada, body, turn === 1 ? { waitMs: 1_000 } : {});
      if (turn === 1) expect(passUpdate).toBeNull();
      else
        expect(passUpdate).toMatchObject({
          serialNumber: ada.member.serialNumber,
          rebuilt: true,
          apple: { devicesNotified: 2, devicesAttempted: 2, mode: 'real' },
          google: { objectPatched: false, mode: 'real' },
        });
      // Each change is shown before the next one, since a phone that is slow shows several as one.
      await until(() => [phone, hanging].every((each) => each.history().at(-1)?.balance === turn));
    }
    for (const { history } of [phone, hanging])
      expect(history().slice(1)).toMatchObject(
        Array.from({ length: 10 }, (_, index) => ({ balance: index + 1, lockScreen: `You have ${index + 1} points` })),
      );
    expect(await customers.received(ada, 'points.changed', 10)).toHaveLength(10);
    expect(await customers.received(ada, 'pass.installed', 3)).toHaveLength(3);
    expect(await customers.received(ada, 'pass.removed', 1)).toHaveLength(1);
    expect(await deviceCount(ada.member._id)).toBe(2);
  });

  it('causes an event for the merchant and a timeline entry at each step', async () => {
    const ada = await customers.join();
    const about = {
      memberId: ada.member._id,
      memberCode: ada.member.memberCode,
      programId: ada.program._id,
      serialNumber: ada.member.serialNumber,
    };
    const created = await customers.received(ada, 'pass.created', 2);
    expect(created.map(({ data }) => [data.platform, data.mode]).sort()).toEqual([
      ['apple', 'real'],
      ['google', 'real'],
    ]);
    const phone = await customers.install(ada);
    expect((await customers.received(ada, 'pass.installed', 1))[0]?.data).toMatchObject({
      ...about,
      platform: 'apple',
    });
    const { passUpdate } = await customers.points(ada, { delta: 5 });
    const [changed] = await customers.received(ada, 'points.changed', 1);
    expect(changed?.data.passUpdate).toEqual(passUpdate);
    expect(passUpdate?.apple).toEqual({ devicesNotified: 1, devicesAttempted: 1, mode: 'real' });
    expect((await customers.received(ada, 'pass.updated', 1))[0]?.data).toMatchObject({ ...about, platform: 'apple' });
    await phone.settled();
    await phone.remove();
    expect((await customers.received(ada, 'pass.removed', 1))[0]?.data).toMatchObject({ ...about, platform: 'apple' });
    expect((await customers.points(ada, { delta: 1 })).passUpdate?.apple).toEqual({
      devicesNotified: 0,
      devicesAttempted: 0,
      mode: 'real',
    });

    const line = { outcome: 'success', platform: 'apple' };
    expect(await customers.timeline(ada, 'pass_built')).toContainEqual(expect.objectContaining(line));
    expect(await customers.timeline(ada, 'device_registered')).toMatchObject([line]);
    expect(await customers.timeline(ada, 'push_sent')).toMatchObject([{ ...line, detail: '1 of 1 devices' }]);
    expect(await customers.timeline(ada, 'device_unregistered')).toMatchObject([line]);
    expect(await customers.received(ada, 'points.changed', 2)).toHaveLength(2);
    for (const event of ['pass.installed', 'pass.updated', 'pass.removed'])
      expect(await customers.received(ada, event, 1)).toHaveLength(1);
  });

  it('is told of a change for two actions of Temporal: the workflow, and its push and webhook together', async () => {
    const ada = await customers.join();
    await customers.install(ada);
    expect((await customers.points(ada, { delta: 5 })).passUpdate?.apple.devicesNotified).toBe(1);
    await customers.received(ada, 'points.changed', 1);
    const query = `MemberId = "${ada.member._id}" AND EventType = "points.changed"`;
    const workflows = real.service.client.workflow;
    const started = await until(async () => {
      for await (const found of workflows.list({ query })) return found;
      return undefined;
    });
    const handle = workflows.getHandle(started.workflowId);
    await handle.result();
    expect(actionsOf((await handle.fetchHistory()).events ?? [])).toBe(2);
  });

  it('gets its push while the pass is built', async () => {
    const ada = await customers.join();
    const phone = await customers.install(ada);
    const eventId = await aChangeOf(ada);
    const { deps, close } = await startTestWorker(real.service);
    const { apple } = deps.wallets;
    if (!apple) throw new Error('Apple is real here');
    // Each of the two waits until the other has begun.
    const begun = new Set<string>();
    const noted: typeof apple = {
      ...apple,
      async build(...given) {
        await until(() => begun.add('build').has('push'));
        return apple.build(...given);
      },
      apns: {
        ...apple.apns,
        async push(...given) {
          await until(() => begun.add('push').has('build'));
          return apple.apns.push(...given);
        },
      },
    };
    await pushLate(
      { ...deps, wallets: { ...deps.wallets, apple: noted } },
      { leaseOwner: 'late', eventIds: [eventId] },
    );
    await close();
    const pushed = await real.service.deps.collections.events.findOne({ _id: eventId });
    expect(pushed?.passUpdate).toMatchObject({ rebuilt: true, apple: { devicesNotified: 1 } });
    await phone.settled();
  });

  it('shows the newest balance in the end when many changes come at once', async () => {
    const ada = await customers.join();
    const phone = await customers.install(ada);
    await Promise.all(Array.from({ length: 12 }, () => customers.points(ada, { delta: 1 })));
    await until(async () => {
      await phone.settled();
      return phone.history().at(-1)?.balance === 12;
    });
  });

  it('that is removed causes one event, however many pushes find it gone', async () => {
    const ada = await customers.join();
    const gone = await customers.install(ada);
    real.apns.answer(gone.pushToken(), { status: 410, reason: 'Unregistered' });
    await Promise.all([1, 2, 3].map(() => customers.points(ada, { delta: 1 })));
    await customers.points(ada, { delta: 1 });
    await customers.received(ada, 'points.changed', 4);
    expect(await customers.received(ada, 'pass.removed', 1)).toHaveLength(1);
    expect(await deviceCount(ada.member._id)).toBe(0);
  });
});

describe('APNs with a fault', () => {
  const passing: [string, ApnsAnswer][] = [
    ['resets the stream', 'reset'],
    ['cuts the connection', 'drop'],
    ['sends the connection away', 'goaway'],
  ];
  it.each(passing)('that %s is retried within the wait: the push succeeds', async (_: string, answer: ApnsAnswer) => {
    const ada = await customers.join();
    const phone = await customers.install(ada);
    real.apns.answer(phone.pushToken(), answer, { status: 200 });
    const { passUpdate, current } = await customers.points(ada, { delta: 7 });
    expect([passUpdate?.apple.devicesNotified, current]).toEqual([1, 7]);
    await until(() => phone.history().at(-1)?.balance === 7);
  });

  const lasting: [string, ApnsAnswer][] = [
    ['says 429', { status: 429, reason: 'TooManyRequests' }],
    ['says 503', { status: 503, reason: 'ServiceUnavailable' }],
    ['never answers', 'hang'],
  ];
  it.concurrent.each(lasting)(
    'that %s gets retries until it accepts the push, and the answer does not wait for them',
    async (_, fault) => {
      const ada = await customers.join();
      const [phone, other] = [await customers.install(ada), await customers.install(ada)];
      // The fault stays until the answer is there, however many requests APNs gets.
      real.apns.answer(phone.pushToken(), fault);
      const { passUpdate, current } = await customers.points(ada, { delta: 7 });
      real.apns.answer(phone.pushToken(), { status: 200 });
      expect([passUpdate, current]).toEqual([null, 7]);
      await until(() => other.history().at(-1)?.balance === 7);
      const [changed] = await customers.received(ada, 'points.changed', 1);
      expect(changed?.data).toMatchObject({ current: 7, passUpdate: null });
      await until(() => phone.history().at(-1)?.balance === 7);
      expect(customers.receivedSoFar(ada, 'points.changed')).toHaveLength(1);
      expect(await customers.received(ada, 'pass.updated', 1)).toHaveLength(1);
      const lines = await until(async () => {
        const found = await customers.timeline(ada, 'push_sent');
        return found.length === 2 && found;
      });
      expect(lines).toMatchObject([
        { outcome: 'success', detail: expect.stringMatching(/^1 of 2 devices; .*; is tried again$/) },
        { outcome: 'success', detail: '2 of 2 devices' },
      ]);
    },
  );

  it('that accepts a repeated push before the event is published changes nothing in the event', async () => {
    const ada = await customers.join();
    const phone = await customers.install(ada);
    const eventId = await aChangeOf(ada);
    const { deps, close } = await startTestWorker(real.service);
    await pushLate(deps, { leaseOwner: 'late', eventIds: [eventId] });
    await close();
    const pushed = await real.service.deps.collections.events.findOne({ _id: eventId });
    expect(pushed?.passUpdate?.apple.devicesNotified).toBe(1);
    expect(JSON.parse(String(pushed?.envelope)).data).toMatchObject({ passUpdate: null });
    await phone.settled();
  });

  it("that refuses all pushes because of the service's configuration removes no registration", async () => {
    const ada = await customers.join();
    const phones = [await customers.install(ada), await customers.install(ada), await customers.install(ada)];
    for (const phone of phones)
      real.apns.answer(phone.pushToken(), { status: 400, reason: 'BadDeviceToken' }, { status: 200 });
    const refused = await customers.points(ada, { delta: 1 });
    expect(refused.passUpdate?.apple).toEqual({ devicesNotified: 0, devicesAttempted: 3, mode: 'real' });
    expect(await customers.timeline(ada, 'push_sent')).toMatchObject([
      { outcome: 'failure', detail: '0 of 3 devices; 400 BadDeviceToken' },
    ]);
    const taken = await customers.points(ada, { delta: 1 });
    expect(taken.passUpdate?.apple.devicesNotified).toBe(3);
    await until(() => phones.every((phone) => phone.history().at(-1)?.balance === 2));
    expect(customers.receivedSoFar(ada, 'pass.removed')).toEqual([]);
  });
});

describe('what a pass shows', () => {
  it('is void when the member is voided or expired, and valid again when the member is active', async () => {
    const ada = await customers.join();
    const phone = await customers.install(ada);
    for (const status of ['voided', 'active', 'expired']) {
      expect((await customers.status(ada, status))?.apple.devicesNotified).toBe(1);
      await phone.settled();
    }
    expect(phone.history().map(({ voided }) => voided)).toEqual([false, true, false, true]);
  });

  it('is the corrected name, and no name when it was removed, also for a phone that asks by itself and at Google', async () => {
    const ada = await customers.join();
    const path = `/merchants/me/members/${ada.member._id}`;
    const phone = await customers.install(ada);
    await real.customer.save(ada.googleUrl ?? '');
    const { members } = real.service.deps.collections;
    await until(() => members.findOne({ _id: ada.member._id, 'pass.googleSaved': true }));
    const shown = () => {
      const object = real.google.rules.objects.get(makeGoogleObjectId(real.google.issuerId, ada.member._id));
      return [JSON.stringify(phone.history().at(-1)).includes('Grace'), object?.accountName];
    };
    await real.merchant.call(path, { method: 'PATCH', body: { firstName: 'Grace', lastName: 'Hopper' } });
    await until(() => shown()[0] === true);
    expect(shown()).toEqual([true, 'Grace Hopper']);
    await real.merchant.call(path, { method: 'PATCH', body: { firstName: null, lastName: null } });
    await until(() => shown()[0] === false);
    expect(shown()).toEqual([false, undefined]);
    const before = await members.findOne({ _id: ada.member._id });
    await real.merchant.call(path, { method: 'PATCH', body: { phone: '+49 30 1234567' } });
    expect((await members.findOne({ _id: ada.member._id }))?.pass.tag).toEqual(before?.pass.tag);
  });

  it('fills its stamps, and starts at zero when the reward is redeemed', async () => {
    const ada = await customers.join({ style: 'stamps', goal: 2, fields: { primaryLabel: 'STAMPS' } });
    const phone = await customers.install(ada);
    for (const balance of [1, 2]) {
      await customers.points(ada, { delta: 1 });
      await until(() => phone.history().at(-1)?.balance === balance);
    }
    await real.merchant.call(`/merchants/me/members/${ada.member._id}/redeem`, { method: 'POST' });
    await until(() => phone.history().at(-1)?.balance === 0);
    expect(phone.history().map(({ balance }) => balance)).toEqual([0, 1, 2, 0]);
  });

  it('can be installed and is up to date when the program pushes no messages', async () => {
    const ada = await customers.join({ pushMessages: false });
    const phone = await customers.install(ada);
    const { passUpdate } = await customers.points(ada, { delta: 3, changeMessage: 'Unheard' });
    expect([passUpdate?.rebuilt, passUpdate?.apple.mode, passUpdate?.google.mode]).toEqual([false, 'stub', 'stub']);
    const { body } = await real.merchant.call(`/merchants/me/members/${ada.member._id}`);
    expect([body.data.apple.mode, body.data.google.mode]).toEqual(['stub', 'stub']);
    expect(real.apns.pushes.filter(({ pushToken }) => pushToken === phone.pushToken())).toEqual([]);
    await until(async () => (await customers.timeline(ada, 'push_sent')).length > 0);
    expect(await customers.timeline(ada, 'push_sent')).toMatchObject([{ outcome: 'skipped', platform: 'apple' }]);
    await phone.refresh();
    expect(phone.history().at(-1)).toMatchObject({ balance: 3, message: 'Unheard' });
  });
});
