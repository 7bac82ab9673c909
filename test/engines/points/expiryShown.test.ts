// Points that are over are shown nowhere, although the schedule has not come by: not on the card, on passes, in a
// campaign, or in an answer that changes nothing.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { followDue } from '../../../activities/wallets/google/followObjects.activity.js';
import { issueAtGoogle } from '../../../activities/wallets/issuePasses.activity.js';
import { makeGoogleObjectId } from '../../../schemas/wallets/google/googleIds.rules.js';
import { until } from '../../rig/checks/until.js';
import { type Customer, type Customers, startCustomers } from '../../rig/start/customers.js';
import { batchEnd } from '../../rig/start/imports.js';
import { type RealWallets, startRealWallets } from '../../rig/start/realWallets.js';
import { startTestWorker, type TestWorker } from '../../rig/start/testWorker.js';

let real: RealWallets;
let customers: Customers;
let worker: TestWorker;
const expiring = { expiry: { afterDays: 30 }, goal: 10 };

beforeAll(async () => {
  real = await startRealWallets();
  [customers, worker] = await Promise.all([startCustomers(real), startTestWorker(real.service)]);
});
afterAll(async () => {
  await worker.close();
  await real.stop();
  await customers.stop();
});

const rowOf = async ({ member: { _id } }: Customer) => {
  const row = await real.service.deps.collections.members.findOne({ _id });
  if (!row) throw new Error('The member is gone.');
  return row;
};

/** A time that no schedule has seen: the older of two earnings is over. */
async function letExpire({ member: { _id } }: Customer): Promise<void> {
  const over = new Date(Date.now() - 1_000);
  const change = { 'expiry.lots.0.at': over, 'expiry.at': over };
  await real.service.deps.collections.members.updateOne({ _id }, { $set: change });
}

async function withPoints(joined: Customer): Promise<Customer> {
  await customers.points(joined, { delta: 20 });
  await customers.points(joined, { delta: 4 });
  return joined;
}

const objectOf = ({ member }: Customer): string =>
  JSON.stringify(real.google.rules.objects.get(makeGoogleObjectId(real.google.issuerId, member._id)));
const entriesOf = async ({ member }: Customer) => {
  const { body } = await real.merchant.call(`/merchants/me/members/${member._id}/transactions`);
  return body.data.items.map(({ type, delta }: { type: string; delta: number }) => [type, delta]);
};

it('the card and the pass file show the balance without them, and they are booked once', async () => {
  const customer = await withPoints(await customers.join(expiring));
  await letExpire(customer);
  const card = `${real.service.publicUrl}/passes/${customer.member.pass.token}`;
  const [page, state] = await Promise.all([fetch(card), fetch(`${card}.json`)]);
  expect(await state.json()).toMatchObject({ balance: 4, full: null });
  expect(await page.text()).toContain('<strong id="balance">4</strong>');
  expect(await entriesOf(customer)).toEqual([
    ['expiry', -20],
    ['adjust', 4],
    ['adjust', 20],
  ]);

  const other = await withPoints(await customers.join(expiring));
  await letExpire(other);
  const phone = await customers.install(other);
  expect(phone.history()[0]).toMatchObject({ balance: 4 });
});

it('a phone that asks for its pass gets the balance without them, as a new version', async () => {
  const customer = await withPoints(await customers.join(expiring));
  const phone = await customers.install(customer);
  expect(phone.history()).toMatchObject([{ balance: 24 }]);
  await letExpire(customer);
  const { serialNumber, pass } = customer.member;
  const { config } = real.service.deps;
  const modifiedAt = (await rowOf(customer)).pass.modifiedAt.toUTCString();
  const fetched = await fetch(
    `${real.service.publicUrl}/wallet/apple/v1/passes/${config.APPLE_PASS_TYPE_ID}/${serialNumber}`,
    { headers: { Authorization: `ApplePass ${pass.authenticationToken}`, 'If-Modified-Since': modifiedAt } },
  );
  expect(fetched.status).toBe(200);
  expect((await rowOf(customer)).balance).toBe(4);
  await until(() => phone.history().at(-1)?.balance === 4);
});

it('the Google object is made and updated with the balance without them', async () => {
  const customer = await withPoints(await customers.join(expiring));
  const { collections } = real.service.deps;
  const { _id } = customer.member;
  await letExpire(customer);
  await real.customer.save(customer.googleUrl ?? '');
  await until(() => collections.members.findOne({ _id, 'pass.googleSaved': true }));
  await until(() => objectOf(customer).includes('"int":4'));

  const late = await withPoints(await customers.join(expiring));
  await letExpire(late);
  real.google.rules.objects.delete(makeGoogleObjectId(real.google.issuerId, late.member._id));
  await collections.members.updateOne({ _id: late.member._id }, { $unset: { 'pass.googleSaveUrl': '' } });
  await issueAtGoogle(worker.deps, { memberIds: [late.member._id], leaseOwner: null });
  expect(objectOf(late)).toContain('"int":4');

  const owed = await withPoints(await customers.join(expiring));
  await letExpire(owed);
  await collections.members.updateOne({ _id: owed.member._id }, { $set: { 'pass.googleDueAt': new Date(0) } });
  await until(async () => (await followDue(worker.deps)).done === 0);
  expect(objectOf(owed)).toContain('"int":4');
});

it('a campaign pushes the balance without them', async () => {
  const customer = await withPoints(await customers.join(expiring));
  const phone = await customers.install(customer);
  await letExpire(customer);
  const { body } = await real.merchant.call('/merchants/me/campaigns', {
    body: { programId: customer.program._id, message: 'Hello' },
  });
  expect(await batchEnd(real.merchant, body.data.id)).toMatchObject({ phase: 'completed' });
  expect((await rowOf(customer)).balance).toBe(4);
  await until(() => phone.history().at(-1)?.balance === 4);
  expect((await entriesOf(customer))[0]).toEqual(['expiry', -20]);
});

it('answers that change nothing show the balance without them', async () => {
  const customer = await withPoints(await customers.join(expiring));
  const { _id } = customer.member;
  const tags = { body: { tags: ['regular'] } };
  await real.merchant.call(`/merchants/me/members/${_id}/tags`, tags);
  await letExpire(customer);
  const removed = await real.merchant.call(`/merchants/me/members/${_id}/tags`, {
    method: 'DELETE',
    body: { tags: ['unknown'] },
  });
  expect(removed.body.data).toMatchObject({ balance: 4, tags: ['regular'] });

  const again = await withPoints(await customers.join(expiring));
  await letExpire(again);
  const known = await real.merchant.call('/merchants/me/members', {
    body: { programId: again.member.programId, email: again.member.email },
  });
  expect(known.body.data).toMatchObject({ deduped: true, balance: 4 });
});

it('the preview of a publication counts the balances without them', async () => {
  const program = await real.merchant.program(expiring);
  const customer = await withPoints(await customers.join(program));
  await letExpire(customer);
  const owner = { Authorization: `Bearer ${await real.merchant.token()}` };
  const path = `/merchants/me/programs/${program._id}`;
  const draft = await real.merchant.call(path, { method: 'PATCH', body: { goal: 8 }, credential: owner });
  expect(draft.status).toBe(200);
  const { body } = await real.merchant.call(`${path}/publish-preview`, { credential: owner });
  expect(body.data).toMatchObject({ counted: 1, overFull: 0 });
});
