// What a wallet cannot be told stays owed: one wallet's refusal delays nothing of the other, what changed in stub mode
// is told once the wallet is real, and an answer of Google counts only for the state in which it was asked.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { snapshotCampaign, snapshotRebuild } from '../../../activities/batches/campaigns.activity.js';
import { repushStale } from '../../../activities/wallets/apple/repush.activity.js';
import { followDue } from '../../../activities/wallets/google/followObjects.activity.js';
import { correctSaves } from '../../../activities/wallets/google/reconcileSaves.activity.js';
import { pushPasses } from '../../../activities/wallets/pushPasses.activity.js';
import { revivePushes } from '../../../activities/wallets/revivePasses.activity.js';
import { processEvents } from '../../../activities/webhooks/processEvents.effect.js';
import { passes } from '../../../stack/commands/passes.js';
import { until } from '../../rig/checks/until.js';
import type { GoogleFault } from '../../rig/standins/googleServer.js';
import { batchRow } from '../../rig/start/batchRow.js';
import { runOn } from '../../rig/start/commandLine.js';
import { type Customer, type Customers, startCustomers } from '../../rig/start/customers.js';
import { aDesigner, type Designer } from '../../rig/start/designer.js';
import { type RealWallets, startRealWallets } from '../../rig/start/realWallets.js';
import { startTestWorker, type TestWorker } from '../../rig/start/testWorker.js';

let real: RealWallets;
let customers: Customers;
let worker: TestWorker;
let designer: Designer;

beforeAll(async () => {
  real = await startRealWallets();
  customers = await startCustomers(real);
  worker = await startTestWorker(real.service);
  designer = await aDesigner(real.merchant);
});
afterEach(() => real.google.mend());
afterAll(async () => {
  await worker.close();
  await real.stop();
  await customers.stop();
});

const day = 86_400_000;
const objectIdOf = ({ member }: Pick<Customer, 'member'>): string => `${real.google.issuerId}.member-${member._id}`;
const cardOf = (customer: Customer) => real.customer.card(objectIdOf(customer));
const memberOf = ({ member }: Customer) =>
  until(() => real.service.deps.collections.members.findOne({ _id: member._id }));
const later = (ms: number) => ({ ...worker.deps, now: () => new Date(Date.now() + ms) });
const follow = async (ms = 0): Promise<void> => {
  for (let round = 0; round < 100; round += 1) if ((await followDue(later(ms))).done === 0) return;
  throw new Error('it never ends');
};

/** A customer with the card on an iPhone and at Google. */
async function withBoth(program?: Customer['program']) {
  const customer = await customers.join(program);
  const phone = await customers.install(customer);
  await real.customer.save(customer.googleUrl ?? '');
  await until(async () => (await customers.timeline(customer, 'google_object_patched')).length > 0);
  return { customer, phone };
}

/** Both wallets of the service become stubs, as when their credentials have expired, or real again. */
function setModes(mode: 'real' | 'stub'): void {
  const { walletModes } = real.service.deps;
  for (const platform of ['apple', 'google'])
    Object.defineProperty(walletModes, platform, { value: mode, configurable: true, enumerable: true });
}

describe('a publication whose design Google does not take', () => {
  const faults: [string, GoogleFault['how'], RegExp][] = [
    ['refuses', { status: 400, reason: 'invalid' }, /^Google refused the new design\. /],
    ['does not permit', { status: 403, reason: 'permissionDenied' }, /^Google has not accepted the new design yet/],
    ['cannot take now', { status: 503 }, /^Google has not accepted the new design yet/],
  ];
  it.each(faults)(
    'because Google %s it reaches the phones all the same, and its batch says why',
    async (_, how, why) => {
      const { customer, phone } = await withBoth();
      const { program } = customer;
      for (const on of ['classGet', 'classUpdate'] as const)
        real.google.fail({ on, how, times: Number.POSITIVE_INFINITY });
      await designer.edit(program._id, { passTemplate: { colors: { background: '#123456' } } });
      const { batchId } = (await designer.publish(program._id)).body.data.rebuild;
      const batch = await until(async () => {
        const { body } = await real.merchant.call(`/merchants/me/batches/${batchId}`);
        return body.data.phase !== 'queued' && body.data.phase !== 'running' && body.data;
      });
      expect(batch).toMatchObject({
        phase: 'completed',
        counts: { total: 1, created: 1 },
        reason: expect.stringMatching(why),
      });
      await until(() => phone.history().length === 2);
      real.google.mend();
      const { lines } = await runOn(real.service, passes, ['rebuild', program._id, '--wait']);
      expect(lines.at(-1)).toBe('completed: 1 of 1 passes pushed, 0 not taken');
      expect(cardOf(customer).background).toBe('#123456');
    },
  );

  it('tells no customer at Google that the points changed; a change of the points does', async () => {
    const { customer } = await withBoth();
    const { program, member } = customer;
    await designer.edit(program._id, { fields: { primaryLabel: 'STARS' } });
    const { batchId } = (await designer.publish(program._id)).body.data.rebuild;
    const { collections } = real.service.deps;
    await until(async () => (await collections.batches.findOne({ _id: batchId }))?.phase === 'completed');
    await real.merchant.call(`/merchants/me/members/${member._id}/push`, { method: 'POST' });
    await customers.status(customer, 'voided');
    await customers.status(customer, 'active');
    expect((await customers.timeline(customer, 'google_object_patched')).map(({ outcome }) => outcome)).toEqual(
      Array.from({ length: 5 }, () => 'success'),
    );
    expect(cardOf(customer).notices).toEqual([]);
    await customers.points(customer, { delta: 3 });
    expect(cardOf(customer).notices).toHaveLength(1);
  });
});

describe('a batch that is cancelled', () => {
  it('does not ask for its merchant, so that a suspended one cannot keep it from ending', async () => {
    const { collections } = real.service.deps;
    const program = await real.merchant.program();
    const fields = {
      merchantId: real.merchant.id,
      programId: program._id,
      cancelRequestedAt: new Date(),
    };
    const failing: typeof worker.deps = {
      ...worker.deps,
      cached: Object.assign(() => Promise.reject(new Error('The merchant must not be read.')), { forget: () => {} }),
    };
    for (const [kind, list] of [
      ['campaign', snapshotCampaign],
      ['passes.rebuild', snapshotRebuild],
    ] as const) {
      const row = batchRow({ ...fields, kind, phase: 'running' });
      await collections.batches.insertOne(row);
      expect(await list(failing, { batchId: row._id })).toEqual({ total: 0 });
    }
  });
});

describe('what changed while the wallets were in stub mode', () => {
  it('is told to the passes in use once they are real', async () => {
    const { customer, phone } = await withBoth();
    await follow();
    setModes('stub');
    const { passUpdate } = await customers.points(customer, { delta: 4 });
    expect(passUpdate).toMatchObject({ apple: { mode: 'stub' }, google: { mode: 'stub' } });
    await customers.points(customer, { delta: 5 });
    setModes('real');
    expect(phone.history().at(-1)?.balance).toBe(0);
    expect(cardOf(customer).balance).toBe('0');
    expect(await repushStale(later(day))).toMatchObject({ pushed: 1 });
    await until(() => phone.history().at(-1)?.balance === 9);
    await follow();
    expect(cardOf(customer)).toMatchObject({ balance: '9', notices: [] });
    expect((await customers.timeline(customer, 'push_sent')).at(-1)).toMatchObject({
      outcome: 'success',
      detail: 'late, not pushed before',
    });
    const { pass } = await memberOf(customer);
    expect([pass.appleDueAt, pass.googleDueAt]).toEqual([undefined, undefined]);
    expect(await repushStale(later(2 * day))).toEqual({ pushed: 0, stale: 0 });
  });

  it('is told too when a publication was pushed meanwhile, and not when the program pushes nothing', async () => {
    const { customer, phone } = await withBoth();
    const silent = await withBoth(await real.merchant.program({ pushMessages: false }));
    setModes('stub');
    await designer.edit(customer.program._id, { rewardName: 'A cake' });
    const { batchId } = (await designer.publish(customer.program._id)).body.data.rebuild;
    const { batches } = real.service.deps.collections;
    await until(async () => (await batches.findOne({ _id: batchId }))?.phase === 'completed');
    await customers.points(silent.customer, { delta: 1 });
    setModes('real');
    const [fetched, silently] = [phone.history().length, silent.phone.history().length];
    await repushStale(later(day));
    await until(() => phone.history().length > fetched);
    await silent.phone.settled();
    expect(silent.phone.history()).toHaveLength(silently);
  });
});

describe('what a wallet refused or never answered', () => {
  it('is told by Google as soon as it permits it again', async () => {
    const { customer } = await withBoth();
    real.google.fail({
      on: 'objectUpdate',
      how: { status: 403, reason: 'permissionDenied' },
      times: Number.POSITIVE_INFINITY,
    });
    await customers.points(customer, { delta: 6 });
    real.google.mend();
    expect(cardOf(customer).balance).toBe('0');
    await follow();
    expect(cardOf(customer).balance).toBe('6');
  });

  it('is pushed to phones for as long as APNs refuses our certificate', async () => {
    const { customer, phone } = await withBoth();
    phone.goOffline();
    await customers.points(customer, { delta: 1 });
    const refused = { status: 403, reason: 'InvalidProviderToken' };
    real.apns.answer(phone.pushToken(), refused, refused, refused, refused, refused, { status: 200 });
    for (let hour = 1; hour <= 5; hour += 1) await repushStale(later(hour * 3_600_000));
    const device = await real.service.deps.collections.devices.findOne({ memberId: customer.member._id });
    expect(device).toMatchObject({ recheckRound: 0, lastPush: { status: 403 } });
    expect(await repushStale(later(day))).toEqual({ pushed: 1, stale: 0 });
  });

  it('stays owed when its late push is given up after a day', async () => {
    const { customer } = await withBoth();
    const { events } = real.service.deps.collections;
    await events.updateOne(
      { memberId: customer.member._id, type: 'member.created' },
      {
        $set: {
          passAction: 'push',
          pushDueAt: new Date(Date.now() - 1_000),
          occurredAt: new Date(Date.now() - day - 1_000),
        },
      },
    );
    await revivePushes(worker.deps);
    const { pass } = await memberOf(customer);
    expect([pass.appleDueAt, pass.googleDueAt]).toEqual([expect.any(Date), expect.any(Date)]);
  });

  it('is not pushed again when an attempt that took long marked what another one had pushed', async () => {
    const { customer } = await withBoth();
    await customers.points(customer, { delta: 1 });
    const { events } = real.service.deps.collections;
    const pushed = { memberId: customer.member._id, type: 'points.changed' } as const;
    await events.updateOne(pushed, { $set: { pushDueAt: new Date(Date.now() - 1_000) } });
    const { pass } = await memberOf(customer);
    await revivePushes(worker.deps);
    expect((await events.findOne(pushed))?.pushDueAt).toBeUndefined();
    expect((await memberOf(customer)).pass).toEqual(pass);
  });
});

describe('a push whose process is lost before it returns', () => {
  it('is not repeated, and its events are published with the change', async () => {
    const { customer, phone } = await withBoth();
    await customers.points(customer, { delta: 1 });
    const { events } = real.service.deps.collections;
    const change = { memberId: customer.member._id, type: 'points.changed' } as const;
    const { _id } = await until(() => events.findOne({ ...change, state: 'published', passUpdate: { $exists: true } }));
    const pushes = () => real.apns.pushes.filter(({ pushToken }) => pushToken === phone.pushToken()).length;
    const before = pushes();
    await events.updateOne(
      { _id },
      { $set: { state: 'new', leaseOwner: 'lost', dueAt: new Date(Date.now() + 60_000) } },
    );
    const { newEventIds, late } = await pushPasses(worker.deps, { leaseOwner: 'lost', eventIds: [_id] });
    const updated = await events.find({ memberId: customer.member._id, type: 'pass.updated' }).toArray();
    expect(newEventIds.toSorted()).toEqual(updated.map((event) => event._id).toSorted());
    expect([newEventIds.length, late, pushes()]).toEqual([2, [], before]);
    // The relay takes the change and those events at the same time, and publishes each of them once.
    const ids = [_id, ...newEventIds];
    const lease = { state: 'new', leaseOwner: 'relay', dueAt: new Date(Date.now() + 60_000) } as const;
    for (const id of ids) await events.updateOne({ _id: id }, { $set: lease });
    const chunk = await events.find({ _id: { $in: ids } }).toArray();
    expect(await processEvents(worker.deps, { leaseOwner: 'relay', events: chunk })).toEqual(new Map());
    expect(await events.countDocuments({ _id: { $in: ids }, state: 'published' })).toBe(3);
  });
});

describe('an answer of Google that comes late', () => {
  /** Google answers that nobody has the card; before that is recorded, `meanwhile` happens. */
  async function lateRemoval(customer: Customer, meanwhile: () => Promise<unknown>): Promise<typeof worker.deps> {
    const { google } = worker.deps.wallets;
    if (!google) throw new Error('Google is real here');
    const getObject: typeof google.api.getObject = async (objectId) => {
      const object = await google.api.getObject(objectId);
      await meanwhile();
      return object && { ...object, hasUsers: false };
    };
    const batchPatch: typeof google.api.batchPatch = async (views) => {
      const patched = await google.api.batchPatch(views);
      const own = views.findIndex(({ memberId }) => memberId === customer.member._id);
      if (own >= 0) await meanwhile();
      return patched.map((one, index) =>
        index === own && one.outcome === 'patched' ? { ...one, hasUsers: false } : one,
      );
    };
    const api = { ...google.api, getObject, batchPatch };
    return { ...worker.deps, wallets: { ...worker.deps.wallets, google: { ...google, api } } };
  }

  it('undoes no save that was told meanwhile, no matter who asked', async () => {
    const { customer } = await withBoth();
    let saves = 0;
    const removedAndSaved = async () => {
      saves += 1;
      if (saves > 2) return;
      await real.customer.call('del', objectIdOf(customer));
      await real.customer.call('save', objectIdOf(customer));
    };
    const deps = await lateRemoval(customer, removedAndSaved);
    expect(await correctSaves(deps, { memberIds: [customer.member._id], giveUp: true })).toEqual({ corrected: 0 });
    expect((await memberOf(customer)).pass.googleSaved).toBe(true);

    const { members } = real.service.deps.collections;
    await members.updateOne({ _id: customer.member._id }, { $set: { 'pass.googleDueAt': new Date() } });
    await followDue(deps);
    expect((await memberOf(customer)).pass).toMatchObject({ googleSaved: true, googleDueAt: expect.any(Date) });
    expect(saves).toBe(2);
    // Asked again, Google's answer about the present state counts.
    await follow();
    expect((await memberOf(customer)).pass.googleSaved).toBe(true);
  });
});
