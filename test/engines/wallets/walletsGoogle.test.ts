// Google Wallet end to end: customers who joined through the public page and saved their pass, a Google with all kinds
// of faults, and the merchant's events.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { taskQueues } from '../../../schemas/tables/workflows.js';
import { until } from '../../rig/checks/until.js';
import type { GoogleFault } from '../../rig/standins/googleServer.js';
import { forgeries } from '../../rig/standins/virtualGoogleWallet.js';
import { type Customer, type Customers, startCustomers } from '../../rig/start/customers.js';
import { type RealWallets, startRealWallets } from '../../rig/start/realWallets.js';

/** For changes that are meant to be answered without the wallets. */
const waitMs = 1_000;
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

const save = async (customer: Customer): Promise<string> => {
  const { objectId, statuses } = await real.customer.save(customer.googleUrl ?? '');
  expect(statuses).toEqual([200]);
  await customers.received(customer, 'pass.installed', 1);
  return objectId;
};

const objectIdOf = ({ member }: Customer): string => `${real.google.issuerId}.member-${member._id}`;

describe('a Google Wallet that joined through the public page', () => {
  it('shows ten changes with message and balance, three with a notice, while other devices are gone or hang', async () => {
    const ada = await customers.join();
    const objectId = await save(ada);
    const [gone, hanging] = [await customers.install(ada), await customers.install(ada)];
    real.apns.answer(gone.pushToken(), { status: 410, reason: 'Unregistered' });
    real.apns.answer(hanging.pushToken(), 'hang', { status: 200 });
    for (let turn = 1; turn <= 10; turn += 1) {
      const body = { delta: 1, changeMessage: `You have ${turn} points` };
      const { passUpdate } = await customers.points(ada, body, turn === 1 ? { waitMs } : {});
      // An answer that did not wait for the hanging device has no result of either wallet yet.
      if (turn === 1) expect(passUpdate).toBeNull();
      else expect(passUpdate?.google).toEqual({ objectPatched: true, mode: 'real' });
      await until(() => real.customer.card(objectId).messages.length === turn);
      const { balance, messages } = real.customer.card(objectId);
      expect([balance, messages.at(-1)?.body]).toEqual([String(turn), `You have ${turn} points`]);
      await until(() => hanging.history().at(-1)?.balance === turn);
    }
    const { messages, notices } = real.customer.card(objectId);
    expect(messages.map(({ messageType }) => messageType)).toEqual([
      ...Array(3).fill('TEXT_AND_NOTIFY'),
      ...Array(7).fill('TEXT'),
    ]);
    expect(notices.map(({ text }) => text)).toEqual(['You have 1 points', 'You have 2 points', 'You have 3 points']);
    expect(await customers.received(ada, 'pass.removed', 1)).toHaveLength(1);
    expect(await customers.received(ada, 'points.changed', 10)).toHaveLength(10);
    const updated = () => customers.receivedSoFar(ada, 'pass.updated').filter(({ data }) => data.platform === 'google');
    await until(() => updated().length >= 10);
    expect(updated()).toHaveLength(10);
  });

  it('gets the changes from before it was saved, and the merchant gets an event for each step', async () => {
    const ada = await customers.join();
    const before = await customers.points(ada, { delta: 30 });
    expect(before.passUpdate?.google).toEqual({ objectPatched: false, mode: 'real' });
    expect(real.customer.card(objectIdOf(ada)).balance).toBe('0');
    const objectId = await save(ada);
    await until(() => real.customer.card(objectId).balance === '30');
    expect(real.customer.card(objectId)).toMatchObject({
      label: 'POINTS',
      secondary: '100',
      state: 'ACTIVE',
      accountName: 'Ada',
      barcode: ada.member.memberCode,
      notices: [],
    });
    const about = { memberId: ada.member._id, serialNumber: ada.member.serialNumber, platform: 'google' };
    expect((await customers.received(ada, 'pass.installed', 1))[0]?.data).toMatchObject(about);
    expect(customers.receivedSoFar(ada, 'pass.updated')).toEqual([]);
    await customers.points(ada, { delta: 1 });
    expect((await customers.received(ada, 'pass.updated', 1))[0]?.data).toMatchObject(about);
    expect(real.customer.card(objectId).notices).toMatchObject([{ kind: 'update' }]);
    await real.customer.remove(objectId);
    expect((await customers.received(ada, 'pass.removed', 1))[0]?.data).toMatchObject(about);
    const after = await customers.points(ada, { delta: 1 });
    expect([after.passUpdate?.google.objectPatched, real.customer.card(objectId).balance]).toEqual([false, '31']);
    const lines = await customers.timeline(ada, 'google_object_patched');
    expect(lines.map(({ outcome }) => outcome)).toEqual(['success', 'success']);
    expect(await customers.timeline(ada, 'google_object_saved')).toMatchObject([
      { outcome: 'success', platform: 'google' },
    ]);
    expect(await customers.timeline(ada, 'google_object_removed')).toMatchObject([{ outcome: 'success' }]);
  });

  it('shows the newest balance when many changes come at once', async () => {
    const ada = await customers.join();
    const objectId = await save(ada);
    await Promise.all(Array.from({ length: 8 }, () => customers.points(ada, { delta: 1 })));
    await until(() => real.customer.card(objectId).balance === '8');
    await customers.received(ada, 'points.changed', 8);
    expect(real.customer.card(objectId).balance).toBe('8');
  });

  it('is inactive when the member is voided, expired when the member is, and then active again', async () => {
    const ada = await customers.join();
    const objectId = await save(ada);
    const states = [];
    for (const status of ['voided', 'expired', 'active']) {
      await customers.status(ada, status);
      states.push(real.customer.card(objectId).state);
    }
    expect(states).toEqual(['INACTIVE', 'EXPIRED', 'ACTIVE']);
  });

  it('can be saved and is then up to date, when the program pushes no messages', async () => {
    const ada = await customers.join({ pushMessages: false });
    await customers.points(ada, { delta: 4 });
    const objectId = await save(ada);
    await until(() => real.customer.card(objectId).balance === '4');
    const { passUpdate } = await customers.points(ada, { delta: 1 });
    expect(passUpdate?.google).toEqual({ objectPatched: false, mode: 'stub' });
    expect(real.customer.card(objectId).balance).toBe('4');
  });
});

describe("Google's callbacks", () => {
  it('count once each, however often they are repeated, one by one or at the same time', async () => {
    const ada = await customers.join();
    await real.customer.save(ada.googleUrl ?? '', { times: 3 });
    const nonce = crypto.randomUUID();
    await Promise.all([1, 2, 3].map(() => real.customer.call('del', objectIdOf(ada), { nonce })));
    await customers.received(ada, 'pass.removed', 1);
    await customers.points(ada, { delta: 1 });
    await customers.received(ada, 'points.changed', 1);
    expect(await customers.received(ada, 'pass.installed', 1)).toHaveLength(1);
    expect(customers.receivedSoFar(ada, 'pass.removed')).toHaveLength(1);
  });

  it('that Google did not sign are 401 and change nothing', async () => {
    const ada = await customers.join();
    for (const forge of forgeries)
      expect([forge, await real.customer.call('save', objectIdOf(ada), { forge })]).toEqual([forge, [401]]);
    const member = await real.service.deps.collections.members.findOne({ _id: ada.member._id });
    expect(member?.pass.googleSaved).toBeUndefined();
    expect(customers.receivedSoFar(ada, 'pass.installed')).toEqual([]);
    const url = `${real.service.publicUrl}/wallet/google/callback`;
    const headers = { 'Content-Type': 'application/json' };
    const odd = await Promise.all(
      ['', '{}', '{"protocolVersion":', '[]'].map(
        async (body) => (await fetch(url, { method: 'POST', headers, body })).status,
      ),
    );
    expect(odd).toEqual([401, 401, 400, 400]);
  });

  it('of another event type or about an unknown object are accepted and do nothing', async () => {
    const ada = await customers.join();
    expect(await real.customer.call('view', objectIdOf(ada))).toEqual([200]);
    const stranger = `${real.google.issuerId}.member-${crypto.randomUUID()}`;
    real.google.rules.objects.set(stranger, { ...real.google.rules.objects.get(objectIdOf(ada)), id: stranger });
    expect(await real.customer.call('save', stranger)).toEqual([200]);
  });
});

describe('saves and deletions without a callback', () => {
  const reconcile = (callbackGraceMs: number) =>
    real.service.client.workflow.execute('reconcileSaves', {
      workflowId: `reconcile-${crypto.randomUUID()}`,
      taskQueue: taskQueues.workflows,
      args: [{ callbackGraceMs }],
    });

  // Callbacks in the earlier tests left states that differ from Google's.
  beforeAll(() => reconcile(0));

  it('are found by comparison, have one event, and the object is updated', async () => {
    const ada = await customers.join();
    const objectId = objectIdOf(ada);
    await customers.points(ada, { delta: 5 });
    real.google.rules.setHasUsers(objectId, true);
    expect(await reconcile(0)).toEqual({ corrected: 1 });
    await customers.received(ada, 'pass.installed', 1);
    await until(() => real.customer.card(objectId).balance === '5');
    expect(await reconcile(0)).toEqual({ corrected: 0 });
    real.google.rules.setHasUsers(objectId, false);
    expect(await reconcile(0)).toEqual({ corrected: 1 });
    await customers.received(ada, 'pass.removed', 1);
    expect(customers.receivedSoFar(ada, 'pass.installed')).toHaveLength(1);
  });

  it('are found although Google refuses another program, or another pass', async () => {
    const both = [await customers.join(), await customers.join()];
    const programIds = both.map(({ program }) => program._id).toSorted();
    const known = await real.service.deps.collections.programs.find().toArray();
    const before = known.filter(({ _id }) => _id <= (programIds[0] ?? '')).length;
    for (const customer of both) real.google.rules.setHasUsers(objectIdOf(customer), true);
    real.google.fail({ on: 'objectList', how: { status: 403 }, times: before });
    expect(await reconcile(0)).toEqual({ corrected: 1 });
    expect(await reconcile(0)).toEqual({ corrected: 1 });

    // Each save also causes an update, whose answer would already report the removal.
    for (const customer of both)
      await until(async () => (await customers.timeline(customer, 'google_object_patched')).length > 0);
    for (const customer of both) real.google.rules.setHasUsers(objectIdOf(customer), false);
    real.google.fail({ on: 'objectGet', how: { status: 403 }, times: 1 });
    expect(await reconcile(0)).toEqual({ corrected: 1 });
    expect(await reconcile(0)).toEqual({ corrected: 1 });
  });

  it('have one event when the callback comes late', async () => {
    const ada = await customers.join();
    real.google.rules.setHasUsers(objectIdOf(ada), true);
    const reconciled = reconcile(3_000);
    await until(() => real.google.requests.at(-1)?.kind === 'objectList');
    expect(await real.customer.call('save', objectIdOf(ada))).toEqual([200]);
    expect(await reconciled).toEqual({ corrected: 0 });
    await customers.received(ada, 'pass.installed', 1);
    expect(customers.receivedSoFar(ada, 'pass.installed')).toHaveLength(1);
  });
});

describe('Google with a fault', () => {
  /** A save also causes an update, which must be finished before the next step. It may be late on a stalled machine. */
  const settled = (customer: Customer, updates = 1) =>
    until(async () => {
      const lines = await customers.timeline(customer, 'google_object_patched');
      return lines.length >= updates && !lines.at(-1)?.detail?.includes('is tried again');
    });

  const faults: [string, GoogleFault][] = [
    ['says 429', { how: { status: 429, reason: 'rateLimitExceeded' } }],
    ['says 503', { how: { status: 503 } }],
    ['cuts the connection', { how: 'reset' }],
    ['never answers', { how: 'hang' }],
    ['begins to answer and stops', { how: 'stall' }],
  ];
  it.each(faults)(
    'that %s gets retries until it accepts the change, and the answer does not wait for them',
    async (_, fault) => {
      const ada = await customers.join();
      const objectId = await save(ada);
      await settled(ada);
      // The fault remains until the answer arrives, however many requests Google gets.
      real.google.fail({ ...fault, on: 'objectUpdate', times: Number.POSITIVE_INFINITY });
      const body = { delta: 7, changeMessage: 'Seven more' };
      const { passUpdate, current } = await customers.points(ada, body, { waitMs });
      real.google.mend();
      expect([passUpdate, current]).toEqual([null, 7]);
      expect((await customers.received(ada, 'points.changed', 1))[0]?.data).toMatchObject({
        current: 7,
        passUpdate: null,
      });
      await until(() => real.customer.card(objectId).messages.length > 0);
      expect(real.customer.card(objectId)).toMatchObject({ balance: '7', messages: [{ body: 'Seven more' }] });
      expect(await customers.received(ada, 'pass.updated', 1)).toHaveLength(1);
    },
  );

  it('that makes the change and loses the answer shows a message once', async () => {
    const ada = await customers.join();
    const objectId = await save(ada);
    await settled(ada);
    real.google.fail({ on: 'addMessage', how: 'lost' });
    await customers.points(ada, { delta: 1, changeMessage: 'Once' }, { waitMs });
    await settled(ada, 2);
    expect(real.customer.card(objectId).messages.map(({ body }) => body)).toEqual(['Once']);
  });

  it('that refuses permanently gets no retry, and the timeline has the reason', async () => {
    const ada = await customers.join();
    const objectId = await save(ada);
    await settled(ada);
    const refusal = { status: 403, reason: 'permissionDenied' };
    real.google.fail({ on: 'objectUpdate', how: refusal, times: Number.POSITIVE_INFINITY });
    const { passUpdate } = await customers.points(ada, { delta: 1 });
    real.google.mend();
    expect(passUpdate?.google).toEqual({ objectPatched: false, mode: 'real' });
    expect((await customers.timeline(ada, 'google_object_patched')).at(-1)).toMatchObject({
      outcome: 'failure',
      detail: 'forbidden: permissionDenied',
    });
    await customers.points(ada, { delta: 1 });
    expect(real.customer.card(objectId).balance).toBe('2');
  });
});
