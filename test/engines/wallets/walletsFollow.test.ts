// Google without its callbacks: the object of a customer who saved it gets every change, Google's answer says whether a
// customer has it, and members from the time of stub mode get their object.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { snapshotRebuild } from '../../../activities/batches/campaigns.activity.js';
import { cachedProgram } from '../../../activities/programs/program.reads.js';
import { followDue } from '../../../activities/wallets/google/followObjects.activity.js';
import { issueBoth } from '../../../activities/wallets/issuePasses.activity.js';
import { updateByIds } from '../../../platform/mongodb/updateMany.js';
import { newId } from '../../../schemas/shared/ids.js';
import { taskQueues } from '../../../schemas/tables/workflows.js';
import { passReport } from '../../../schemas/wallets/passReport.schema.js';
import { passes } from '../../../stack/commands/passes.js';
import { until } from '../../rig/checks/until.js';
import { runOn } from '../../rig/start/commandLine.js';
import { type Customer, type Customers, startCustomers } from '../../rig/start/customers.js';
import { aMerchant, manyMembers } from '../../rig/start/merchant.js';
import { type RealWallets, startRealWallets } from '../../rig/start/realWallets.js';
import { startTestWorker, type TestWorker } from '../../rig/start/testWorker.js';

let real: RealWallets;
let customers: Customers;
let worker: TestWorker;

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

const objectIdOf = ({ member }: Pick<Customer, 'member'>): string => `${real.google.issuerId}.member-${member._id}`;
const memberOf = (id: string) => until(() => real.service.deps.collections.members.findOne({ _id: id }));
/** Updates until nothing is due. */
const follow = async (afterMs = 0): Promise<void> => {
  const deps = { ...worker.deps, now: () => new Date(Date.now() + afterMs) };
  for (let round = 0; round < 100; round += 1) if ((await followDue(deps)).done === 0) return;
  throw new Error('it never ends');
};
const requests = (kind: string): number => real.google.requests.filter((request) => request.kind === kind).length;

describe('a card that was saved without a callback', () => {
  it('gets the next change, is then known to be saved, and gets later changes at once', async () => {
    const ada = await customers.join();
    real.google.rules.setHasUsers(objectIdOf(ada), true);
    const first = await customers.points(ada, { delta: 5 });
    expect(first.passUpdate?.google).toEqual({ objectPatched: false, mode: 'real' });
    await follow();
    expect(real.customer.card(objectIdOf(ada))).toMatchObject({ balance: '5', notices: [] });
    await customers.received(ada, 'pass.installed', 1);
    const second = await customers.points(ada, { delta: 1 });
    expect(second.passUpdate?.google).toEqual({ objectPatched: true, mode: 'real' });
    expect(real.customer.card(objectIdOf(ada)).balance).toBe('6');
    expect(customers.receivedSoFar(ada, 'pass.installed')).toHaveLength(1);
    // The late callback changes nothing.
    expect(await real.customer.call('save', objectIdOf(ada))).toEqual([200]);
  });

  it('is updated after an outage of Google, and when it changes during an update', async () => {
    const ada = await customers.join();
    const objectId = objectIdOf(ada);
    real.google.rules.setHasUsers(objectId, true);
    await follow();
    await customers.points(ada, { delta: 5 });
    real.google.fail({ on: 'batch', how: { status: 503 } });
    await follow();
    expect(real.customer.card(objectId).balance).toBe('0');
    await follow();
    expect(real.customer.card(objectId).balance).toBe('0');
    const slow = { ...worker.deps.wallets.google?.api };
    const { google } = worker.deps.wallets;
    if (!google || !slow.batchPatch) throw new Error('Google is real here');
    const patch = slow.batchPatch;
    let changes = 0;
    const batchPatch: typeof patch = async (views) => {
      changes += 1;
      if (changes === 1) await customers.points(ada, { delta: 1 });
      return patch(views);
    };
    const wallets = { ...worker.deps.wallets, google: { ...google, api: { ...google.api, batchPatch } } };
    await followDue({ ...worker.deps, wallets, now: () => new Date(Date.now() + 20_000) });
    expect(real.customer.card(objectId).balance).toBe('5');
    await follow(20_000);
    await until(() => real.customer.card(objectId).balance === '6');
    await until(async () => (await memberOf(ada.member._id)).pass.googleDueAt === undefined);
  });
});

describe('a card that no customer has', () => {
  it('is never reported as updated, even after a callback, and its removal is reported', async () => {
    const ada = await customers.join();
    await real.customer.save(ada.googleUrl ?? '');
    await customers.received(ada, 'pass.installed', 1);
    await until(async () => (await customers.timeline(ada, 'google_object_patched')).length === 1);
    real.google.rules.setHasUsers(objectIdOf(ada), false);
    const { passUpdate } = await customers.points(ada, { delta: 1, changeMessage: 'For nobody' });
    expect(passUpdate?.google).toEqual({ objectPatched: false, mode: 'real' });
    await customers.received(ada, 'pass.removed', 1);
    expect((await memberOf(ada.member._id)).pass.googleSaved).toBe(false);
    expect(customers.receivedSoFar(ada, 'pass.updated').filter(({ data }) => data.platform === 'google')).toEqual([]);
    expect((await customers.timeline(ada, 'google_object_patched')).at(-1)).toMatchObject({
      outcome: 'skipped',
      detail: 'no customer has the card',
    });
    expect(real.customer.card(objectIdOf(ada)).messages).toEqual([]);
    await customers.points(ada, { delta: 1 });
    await follow();
    expect(real.customer.card(objectIdOf(ada)).balance).toBe('2');
    expect(customers.receivedSoFar(ada, 'pass.removed')).toHaveLength(1);
  });

  it('costs a fiftieth of a request for each change, and none for a change that is followed by another', async () => {
    await follow();
    const program = await real.merchant.program();
    const members = await manyMembers(real.service.deps, { program, count: 100 });
    const { deps } = worker;
    await snapshotRebuild(deps, { batchId: await rebuildOf(program._id) });
    await follow();
    for (const { _id } of members.slice(0, 60)) {
      for (let turn = 0; turn < 2; turn += 1)
        await real.merchant.call(`/merchants/me/members/${_id}/points`, { method: 'PATCH', body: { delta: 1 } });
    }
    const [batches, single] = [requests('batch'), requests('objectUpdate')];
    await follow();
    expect([requests('batch') - batches, requests('objectUpdate') - single]).toEqual([2, 0]);
    const balances = members.map(({ _id }) => real.customer.card(`${real.google.issuerId}.member-${_id}`).balance);
    expect(balances.filter((balance) => balance === '2')).toHaveLength(60);
  });
});

/** A rebuild that waits for its worker. */
async function rebuildOf(programId: string): Promise<string> {
  const batchId = newId();
  await real.service.deps.collections.batches.insertOne({
    ...{ _id: batchId, merchantId: real.merchant.id, kind: 'passes.rebuild', phase: 'queued', programId, done: 0 },
    ...{ counts: { total: 0, created: 0, deduped: 0, failed: 0 }, passIssuance: { apple: 0, google: 0 } },
    ...{ startedBy: { type: 'user', id: 'operator' }, startedAt: new Date() },
  });
  return batchId;
}

describe('the members of one merchant', () => {
  it('do not delay those of another, however many they are and however new', async () => {
    await follow();
    const { members } = real.service.deps.collections;
    const program = await real.merchant.program();
    const many = (await manyMembers(real.service.deps, { program, count: 120 })).map(({ _id }) => _id);
    const other = await aMerchant(real.service);
    const [one] = await manyMembers(real.service.deps, { program: await other.program(), count: 1 });
    if (!one) throw new Error('A member was to be made.');
    const now = Date.now();
    const dueSince = (ids: string[], ageMs: number) =>
      updateByIds(real.service.deps, 'members', {
        ids,
        change: { $set: { 'pass.googleDueAt': new Date(now - ageMs) } },
      });
    await dueSince(many.slice(0, 60), 60_000);
    await dueSince([one._id], 30_000);
    await dueSince(many.slice(60), 0);
    const { last } = await followDue(worker.deps);
    await followDue(worker.deps, last);
    expect(real.google.rules.objects.has(`${real.google.issuerId}.member-${one._id}`)).toBe(true);
    const left = await members.countDocuments({ _id: { $in: many }, 'pass.googleSaveUrl': { $exists: false } });
    expect(left).toBeGreaterThan(0);
    await follow();
    expect(
      await members.countDocuments({ _id: { $in: [...many, one._id] }, 'pass.googleDueAt': { $exists: true } }),
    ).toBe(0);
  });
});

describe('a member whose program is gone', () => {
  it('is postponed, whether it has an object or not, and delays no other', async () => {
    const { members, programs } = real.service.deps.collections;
    const [program, other] = [await real.merchant.program(), await real.merchant.program()];
    const lost = [await customers.join(program), await customers.join(program)];
    const kept = [await customers.join(other), await customers.join(other)];
    await follow();
    await programs.deleteOne({ _id: program._id });
    // Programs are cached for a second.
    const at = { merchantId: program.merchantId, programId: program._id };
    await until(() =>
      cachedProgram(worker.deps, at).then(
        () => false,
        () => true,
      ),
    );
    for (const [index, { member }] of [...lost, ...kept].entries()) {
      const $set = { 'pass.googleDueAt': new Date(1 + index), balance: 7 };
      const without = index % 2 === 1 && { $unset: { 'pass.googleSaveUrl': '' as const } };
      await members.updateOne({ _id: member._id }, { $set, ...without });
    }
    await follow();
    expect(kept.map((customer) => real.customer.card(objectIdOf(customer)).balance)).toEqual(['7', '7']);
    expect(await dueOf(kept)).toEqual([undefined, undefined]);
    for (const dueAt of await dueOf(lost)) expect(dueAt?.getTime()).toBeGreaterThan(Date.now() + 3_000_000);
    for (const { member } of lost) await members.deleteOne({ _id: member._id });
  });
});

const dueOf = (some: readonly Customer[]) =>
  Promise.all(some.map(async ({ member }) => (await memberOf(member._id)).pass.googleDueAt));

describe('members from the time of stub mode', () => {
  it('get their object once Google is in real mode, and the pass doctor names them until then', async () => {
    await follow();
    const program = await real.merchant.program();
    const members = await manyMembers(real.service.deps, { program, count: 60 });
    const memberIds = members.map(({ _id }) => _id);
    const stub = { ...worker.deps, walletModes: { apple: 'stub', google: 'stub' } as const };
    await issueBoth(stub, { memberIds, leaseOwner: null });
    await followDue(stub);
    const [ada] = members;
    const missing = (await runOn(real.service, passes, ['missing', program._id])).lines;
    expect(missing).toHaveLength(61);
    expect(missing).toContainEqual(expect.stringContaining(`${ada?.memberCode}  ${program._id}  google`));
    expect(missing.at(-1)).toBe('60 members have no pass in a wallet');
    // A change of such a member does not wait for all the others.
    await real.merchant.call(`/merchants/me/members/${ada?._id}/points`, { method: 'PATCH', body: { delta: 3 } });
    await follow();
    expect(real.customer.card(`${real.google.issuerId}.member-${ada?._id}`)).toMatchObject({ balance: '3' });
    const { collections } = real.service.deps;
    const issued = await collections.members.find({ _id: { $in: memberIds } }).toArray();
    expect(issued.filter(({ pass }) => pass.googleSaveUrl?.startsWith('https:') && !pass.googleDueAt)).toHaveLength(60);
    const created = await collections.events.find({ memberId: ada?._id ?? '', type: 'pass.created' }).toArray();
    expect(created.map(({ data }) => `${data.platform} ${data.mode}`).sort()).toEqual([
      'apple stub',
      'google real',
      'google stub',
    ]);
    const { lines } = await runOn(real.service, passes, ['missing', program._id]);
    expect(lines).toEqual(['every member has its passes']);
  });

  it('that were not recorded get it by a rebuild, and the pass doctor names them', async () => {
    const ada = await customers.join();
    await customers.points(ada, { delta: 4 });
    await follow();
    const { members } = real.service.deps.collections;
    await members.updateOne({ _id: ada.member._id }, { $unset: { 'pass.googleSaveUrl': '' } });
    real.google.rules.objects.delete(objectIdOf(ada));
    const { body } = await real.merchant.call(`/merchants/me/members/${ada.member._id}/pass`);
    expect(passReport.parse(body.data).findings).toContainEqual(expect.stringContaining('no object at Google'));
    await snapshotRebuild(worker.deps, { batchId: await rebuildOf(ada.program._id) });
    await follow();
    expect(real.customer.card(objectIdOf(ada)).balance).toBe('4');
    expect((await memberOf(ada.member._id)).pass.googleSaveUrl).toMatch(/^https:/);
  });

  it('get it with the next change', async () => {
    const ada = await customers.join();
    await follow();
    const { members } = real.service.deps.collections;
    await members.updateOne({ _id: ada.member._id }, { $unset: { 'pass.googleSaveUrl': '' } });
    real.google.rules.objects.delete(objectIdOf(ada));
    await customers.points(ada, { delta: 4 });
    await follow();
    expect(real.customer.card(objectIdOf(ada)).balance).toBe('4');
  });
});

describe('the workflow that a schedule starts', () => {
  it('updates objects as they change', async () => {
    const ada = await customers.join();
    real.google.rules.setHasUsers(objectIdOf(ada), true);
    const run = { workflowId: `follow-${newId()}`, taskQueue: taskQueues.workflows, args: [{}] as [object] };
    const handle = await real.service.client.workflow.start('followGoogle', run);
    await customers.points(ada, { delta: 5 });
    await until(() => real.customer.card(objectIdOf(ada)).balance === '5');
    await customers.received(ada, 'pass.installed', 1);
    await handle.terminate();
  });
});
