// Erasing a member: no personal data is left in any place, whatever happens during the erasure, and no erased member
// comes back.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serialiseEnvelopes } from '../../../activities/events/serialiseEnvelopes.writes.js';
import { changeMember } from '../../../activities/members/changeMember.writes.js';
import { newMemberCodes } from '../../../activities/members/memberCodes.reads.js';
import { voidForErasureRule } from '../../../activities/persons/eraseMember.writes.js';
import { reviveErasures } from '../../../activities/persons/reviveErasures.activity.js';
import { clearDueObjects } from '../../../activities/wallets/google/clearObjects.activity.js';
import { pushLeased } from '../../../activities/wallets/pushPasses.activity.js';
import { eraseId, newId } from '../../../schemas/shared/ids.js';
import { makeGoogleObjectId } from '../../../schemas/wallets/google/googleIds.rules.js';
import { loggedLines } from '../../rig/checks/failureLog.js';
import { findTraces, leavesTraces } from '../../rig/checks/findTraces.js';
import { until } from '../../rig/checks/until.js';
import { type Receiver, startReceiver } from '../../rig/standins/receiver.js';
import { status } from '../../rig/standins/responders.js';
import { type Customers, startCustomers } from '../../rig/start/customers.js';
import { batchEnd, csvOf, sendImport } from '../../rig/start/imports.js';
import type { Answer } from '../../rig/start/merchant.js';
import { type RealWallets, startRealWallets } from '../../rig/start/realWallets.js';
import type { TestService } from '../../rig/start/service.js';
import { startTestWorker, type TestWorker } from '../../rig/start/testWorker.js';

const begun = new Date();
let real: RealWallets;
let service: TestService;
let customers: Customers;
let worker: TestWorker;
let failing: Receiver;
let owner: Record<string, string>;

beforeAll(async () => {
  real = await startRealWallets({ env: { PASS_UPDATE_WAIT_MS: '4000' } });
  service = real.service;
  [customers, worker, failing] = await Promise.all([startCustomers(real), startTestWorker(service), startReceiver()]);
  owner = { Authorization: `Bearer ${await real.merchant.token()}` };
});
afterAll(async () => {
  await worker.close();
  await real.stop();
  await customers.stop();
  await failing.stop();
});

const path = (id: string, rest = '') => `/merchants/me/members/${id}${rest}`;
const erase = (id: string, credential = owner): Promise<Answer> =>
  real.merchant.call(path(id), { method: 'DELETE', credential });
const places = () => ({ deps: service.deps, temporal: service.client, since: begun, logs: loggedLines() });
const tracesOf = (values: readonly string[]) => findTraces(places(), values);
const untilGone = (values: readonly string[]) =>
  until(async () => !(await leavesTraces(places(), values)), { everyMs: 250 });

/** Makes the next run of an erasure due now, as after the waiting time or when Temporal has lost the workflow. */
async function lookAgain(id: string): Promise<void> {
  await service.deps.collections.erasures.updateOne({ _id: id }, { $set: { dueAt: new Date(0) } });
  await reviveErasures(worker.deps);
}

let people = 0;
/** A member with unique values in every field. */
function somebody() {
  people += 1;
  const mark = Buffer.from(newId().slice(0, 8))
    .toString('hex')
    .replace(/\d/g, (digit) => 'ghijklmnop'.charAt(Number(digit)));
  return {
    firstName: `Zerelda${mark}`,
    lastName: `O'Quimbäult${mark}`,
    email: `zerelda.${mark}@example.com`,
    phone: `+49 171 ${String(Date.now()).slice(-6)}${String(people).padStart(3, '0')}`,
  };
}

/** Clears the objects that are owed to Google, as the schedule does. */
async function untilCleared(id: string): Promise<void> {
  await until(async () => {
    await clearDueObjects(worker.deps);
    return (await service.deps.collections.googleClears.countDocuments({ _id: id })) === 0;
  });
}

describe('a member with everything', () => {
  const person = somebody();
  const tag = `tag of ${person.firstName.toLowerCase()}`;
  const source = `letter-to-${person.firstName}`;
  const message = `Happy birthday, dear ${person.lastName}`;
  const reference = `receipt of ${person.firstName}`;
  const words = Object.values({ ...person, tag, source, reference });
  let id: string;
  let pushToken: string;
  let deleted: Answer;
  let before: Answer['body'];
  let programId: string;

  it('is gone at once: every endpoint answers 404, also to an earlier idempotency key', async () => {
    const { merchant, customer } = real;
    const { call } = merchant;
    const { collections } = service.deps;
    failing.setResponder(status(500));
    const retryPolicy = { maxAttempts: 5, backoffMs: 600_000 };
    await call('/merchants/me/webhooks', { body: { url: failing.url, events: ['*'], retryPolicy } });
    const joined = await customers.join();
    id = joined.member._id;
    programId = joined.program._id;
    const change = (rest: string, body: unknown, key?: string, method = 'PATCH') =>
      call(path(id, rest), { method, body, headers: { ...(key && { 'Idempotency-Key': key }) } });
    await collections.members.updateOne({ _id: id }, { $set: { attribution: { utm_source: source } } });
    await change('', person);
    await change('/tags', { tags: [tag] }, undefined, 'POST');
    const phone = await customers.install(joined);
    pushToken = phone.pushToken();
    await customer.save(joined.googleUrl ?? '');
    await until(() => collections.members.findOne({ _id: id, 'pass.googleSaved': true }));
    await change(
      '/points',
      { delta: 120, changeMessage: message, reference, location: `door of ${person.lastName}` },
      'erase-key-1',
    );
    await change('/redeem', { changeMessage: `Enjoy, ${person.firstName}` }, 'erase-key-2', 'POST');
    const objectId = makeGoogleObjectId(real.google.issuerId, id);
    await until(() => JSON.stringify(real.google.rules.objects.get(objectId)).includes(message));
    await call('/merchants/me/scans', { body: { code: joined.member.memberCode } });
    await fetch(`${service.publicUrl}/wallet/apple/v1/log`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ logs: [`${joined.member.serialNumber}: no room for ${person.firstName}`] }),
    });
    const file = `firstName,lastName,email,initialPoints\n${person.firstName},x,${person.email.toUpperCase()},\ny,${person.lastName},${person.email},no points\n${person.firstName},${person.lastName},no email,\n`;
    const imported = await sendImport(merchant, { programId, file });
    expect(imported.body.data.counts).toMatchObject({ deduped: 1, failed: 2 });
    const campaign = await call('/merchants/me/campaigns', { body: { programId, message: 'Hello to all' } });
    await batchEnd(merchant, campaign.body.data.id);
    await phone.settled();
    await until(() => collections.deliveries.findOne({ state: 'retrying', eventType: 'reward.redeemed' }));
    before = (await call('/merchants/me/members?pageSize=1')).body.data;
    expect((await tracesOf([...words, pushToken])).map(({ value }) => value)).toEqual(
      expect.arrayContaining([...words, pushToken]),
    );

    deleted = await erase(id);
    expect(deleted.status).toBe(200);
    expect(deleted.body.data).toEqual({ id, erasedAt: expect.stringMatching(/^\d{4}-.*Z$/) });
    for (const rest of ['', '/events', '/events.csv', '/transactions', '/balance', '/export', '/pass'])
      expect([rest, (await call(path(id, rest))).status]).toEqual([rest, 404]);
    expect((await change('/points', { delta: 120, changeMessage: message }, 'erase-key-1')).status).toBe(404);
    expect((await change('/status', { status: 'active' })).status).toBe(404);
    expect((await change('/card-link', {}, undefined, 'POST')).status).toBe(404);
    expect((await erase(id)).body.error.code).toBe('MEMBER_NOT_FOUND');
    expect((await call('/merchants/me/scans', { body: { code: joined.member.memberCode } })).status).toBe(404);
    for (const query of [`q=${person.firstName}`, `q=${person.email}`, `serial=${joined.member.memberCode}`])
      expect((await call(`/merchants/me/members?${query}`)).body.data.total).toBe(0);
    expect((await call('/merchants/me/members?pageSize=1')).body.data.total).toBe(before.total - 1);
    expect((await call('/merchants/me/members/tags')).body.data.tags).not.toContain('');
    for (const url of [joined.cardUrl, joined.appleUrl ?? '']) expect((await fetch(url)).status).toBe(404);
    const { serialNumber, pass } = joined.member;
    const fetched = await fetch(
      `${service.publicUrl}/wallet/apple/v1/passes/${service.deps.config.APPLE_PASS_TYPE_ID}/${serialNumber}`,
      { headers: { Authorization: `ApplePass ${pass.authenticationToken}` } },
    );
    expect(fetched.status).toBe(404);

    await phone.settled();
    expect(phone.history().at(-1)).toMatchObject({ voided: true });
    expect(JSON.stringify(phone.history().at(-1))).not.toContain(person.firstName);
    const object = real.google.rules.objects.get(objectId);
    expect(object).toMatchObject({ state: 'INACTIVE' });
    expect(object?.accountName).toBeUndefined();
  });

  it('leaves no personal data in any place after a minute', async () => {
    const ended = await until(() => service.deps.collections.erasures.findOne({ _id: id, runs: 1 }));
    expect(ended.person).toBeUndefined();
    expect(ended.dueAt?.getTime()).toBeGreaterThan(Date.now() + 30_000);
    expect(Date.now() - Date.parse(deleted.body.data.erasedAt)).toBeLessThan(60_000);
    expect(await tracesOf([...words, message, pushToken])).toEqual([]);
    await untilCleared(id);
    const object = real.google.rules.objects.get(makeGoogleObjectId(real.google.issuerId, id));
    expect(JSON.stringify(object)).not.toContain(person.lastName);
  });

  it('leaves its ledger, whose numbers still add up', async () => {
    const rows = await service.deps.collections.ledger.find({ memberId: id }).sort({ memberVersion: 1 }).toArray();
    expect(rows.map(({ type, delta }) => [type, delta])).toEqual([
      ['adjust', 120],
      ['redeem', -100],
    ]);
  });

  it('is published as `member.deleted` with ids only, and nothing else is delivered any more', async () => {
    const told = await until(() => {
      const all = failing.requests.map(({ body }) => body.toString('utf8'));
      return all.find((text) => JSON.parse(text).event === 'member.deleted');
    });
    expect(JSON.parse(told).data).toEqual({ memberId: id, programId, merchantId: real.merchant.id });
    expect(JSON.parse(told).occurredAt).toBe(deleted.body.data.erasedAt);
    const { body } = await real.merchant.call(
      '/merchants/me/webhooks/delivery-logs?eventType=reward.redeemed&success=false',
    );
    const item = body.data.items.find(({ url }: { url: string }) => url === failing.url);
    expect(item).toMatchObject({ state: 'exhausted', error: 'erased', payload: null, nextAttemptAt: null });
    const replay = await real.merchant.call(`/merchants/me/webhooks/delivery-logs/${item.id}/replay`, {
      method: 'POST',
    });
    expect(replay.body.error.code).toBe('DELIVERY_NOT_FOUND');
    const feed = await real.merchant.call('/merchants/me/events?limit=500');
    const about = feed.body.data.items.filter(({ data }: { data: { memberId: string } }) => data.memberId === id);
    expect(about.map(({ event }: { event: string }) => event)).toEqual(['member.deleted']);
  });

  it('may join again as a new member, with another id and another code', async () => {
    const again = await real.merchant.call('/merchants/me/members', { body: { programId, ...person } });
    expect(again.status).toBe(201);
    expect(again.body.data.id).not.toBe(id);
    expect(again.body.data.balance).toBe(0);
    await erase(again.body.data.id);
  });
});

it.each([400, 401, 403])(
  'removes everything here while Google answers %i, and keeps an id for Google',
  async (code) => {
    const person = somebody();
    const { id } = await real.merchant.enroll(person);
    const { collections } = service.deps;
    await until(() => collections.members.findOne({ _id: id, 'pass.googleSaveUrl': { $exists: true } }));
    real.google.fail({ on: 'objectUpdate', how: { status: code }, times: 20 });
    try {
      expect((await erase(id)).status).toBe(200);
      const ended = await until(() => collections.erasures.findOne({ _id: id, runs: 1 }));
      expect(ended.person).toBeUndefined();
      expect(await tracesOf(Object.values(person))).toEqual([]);
      await clearDueObjects(worker.deps);
      expect(await collections.googleClears.findOne({ _id: id })).toEqual({ _id: id, dueAt: expect.any(Date) });
    } finally {
      real.google.mend();
    }
    const objectId = makeGoogleObjectId(real.google.issuerId, id);
    expect(JSON.stringify(real.google.rules.objects.get(objectId))).toContain(person.lastName);
    await collections.googleClears.updateOne({ _id: id }, { $set: { dueAt: new Date(0) } });
    await untilCleared(id);
    expect(JSON.stringify(real.google.rules.objects.get(objectId))).not.toContain(person.lastName);
  },
);

it('voids the pass and takes the name off it also when the program pushes no messages', async () => {
  const joined = await customers.join({ pushMessages: false });
  const { _id: id } = joined.member;
  const { firstName } = somebody();
  await real.merchant.call(path(id), { method: 'PATCH', body: { firstName } });
  const phone = await customers.install(joined);
  await real.customer.save(joined.googleUrl ?? '');
  await until(() => service.deps.collections.members.findOne({ _id: id, 'pass.googleSaved': true }));
  expect(JSON.stringify(phone.history().at(-1))).toContain(firstName);
  expect((await erase(id)).status).toBe(200);
  await phone.settled();
  expect(phone.history().at(-1)).toMatchObject({ voided: true });
  expect(JSON.stringify(phone.history().at(-1))).not.toContain(firstName);
  const object = real.google.rules.objects.get(makeGoogleObjectId(real.google.issuerId, id));
  expect(object).toMatchObject({ state: 'INACTIVE' });
  expect(object?.accountName).toBeUndefined();
});

it('only callers that may delete members may erase one, not an integration key or a manager', async () => {
  const { id } = await real.merchant.enroll();
  const manager = { Authorization: `Bearer ${await real.merchant.token({ roleIds: ['manager'] })}` };
  for (const credential of [{ 'X-API-Key': real.merchant.apiKey }, manager])
    expect((await erase(id, credential)).status).toBe(403);
  expect((await real.merchant.call(path(id))).status).toBe(200);
});

it('the code of an erased member is never reused', async () => {
  const { id, memberCode } = await real.merchant.enroll();
  await erase(id);
  const drawn = [memberCode, 'NEWCODE001', memberCode, 'NEWCODE002'];
  const draw = () => drawn.shift() ?? 'NEWCODE003';
  const { id: merchantId } = real.merchant;
  expect(await newMemberCodes(service.deps, { merchantId, count: 2, draw })).toEqual(['NEWCODE001', 'NEWCODE002']);
});

it('data that is written afterwards is removed by the next run', async () => {
  const person = somebody();
  const { id } = await real.merchant.enroll(person);
  await erase(id);
  await untilGone(Object.values(person));
  await service.deps.collections.timeline.insertOne({
    ...{ _id: newId(), merchantId: real.merchant.id, memberId: id, type: 'pass_built', outcome: 'failure' },
    detail: `no pass for ${person.lastName}`,
    occurredAt: new Date(),
  });
  expect(await tracesOf(Object.values(person))).toMatchObject([{ value: person.lastName }]);
  await lookAgain(id);
  await untilGone(Object.values(person));
});

it('an erasure continues from its row when Temporal has lost the workflow', async () => {
  const person = somebody();
  const { id } = await real.merchant.enroll(person);
  await until(() =>
    service.deps.collections.events.findOne({ memberId: id, type: 'pass.created', state: 'published' }),
  );
  await service.stopWorker();
  expect((await erase(id)).status).toBe(200);
  await until(() =>
    service.client.workflow
      .getHandle(eraseId(id))
      .describe()
      .catch(() => false),
  );
  await service.client.workflow.getHandle(eraseId(id)).terminate('by a test');
  await service.startWorker();
  await lookAgain(id);
  await untilGone(Object.values(person));
});

it('an erasure is completed when the process died after it had voided the pass', async () => {
  const person = somebody();
  const { id } = await real.merchant.enroll(person);
  const { id: merchantId } = real.merchant;
  const given = { merchantId, memberId: id, chooseLeaseOwner: () => null, temporalAvailable: true };
  await changeMember(service.deps, { ...given, decide: voidForErasureRule(service.deps) });
  const { body } = await real.merchant.call(path(id));
  expect(body.data).toMatchObject({ status: 'voided' });
  expect(body.data.email).toBeUndefined();
  await lookAgain(id);
  await untilGone(Object.values(person));
  expect((await real.merchant.call(path(id))).status).toBe(404);
  const told = await service.deps.collections.events.find({ type: 'member.deleted', 'data.memberId': id }).toArray();
  expect(told).toHaveLength(1);
});

it('concurrent changes are applied before it or answered 404, and do not restore the member', async () => {
  const person = somebody();
  const { id } = await real.merchant.enroll(person);
  const changes = Array.from({ length: 12 }, (_, index) =>
    index % 3 === 0
      ? real.merchant.call(path(id), { method: 'PATCH', body: { firstName: `${person.firstName}${index}` } })
      : real.merchant.call(path(id, '/points'), {
          method: 'PATCH',
          body: { delta: 1, changeMessage: person.lastName },
        }),
  );
  const [deleted, ...answers] = await Promise.all([erase(id), ...changes]);
  expect(deleted?.status).toBe(200);
  for (const answer of answers) expect([200, 404]).toContain(answer.status);
  await untilGone(Object.values(person));
  const { collections } = service.deps;
  const rows = await collections.ledger.find({ memberId: id }).toArray();
  expect(rows.reduce((sum, { delta }) => sum + delta, 0)).toBe(rows.length);
  expect(await collections.members.countDocuments({ _id: id })).toBe(0);
});

it('a process that read events earlier neither writes nor sends their data again', async () => {
  const person = somebody();
  const { id } = await real.merchant.enroll(person);
  const { events, timeline } = service.deps.collections;
  await until(() => events.findOne({ memberId: id, type: 'member.created', state: 'published' }));
  await service.stopWorker();
  await real.merchant.call(path(id, '/points'), {
    method: 'PATCH',
    body: { delta: 1, changeMessage: person.lastName },
  });
  const read = (await events.find({ memberId: id }).toArray()).map(({ envelope: _, passUpdate: __, ...event }) => ({
    ...event,
    passAction: 'push' as const,
  }));
  expect((await erase(id)).status).toBe(200);
  await service.startWorker();
  await untilGone(Object.values(person));
  const written = await serialiseEnvelopes(worker.deps, read);
  expect(written.map(({ erasedAt }) => erasedAt)).toEqual(read.map(() => expect.any(Date)));
  await pushLeased(worker.deps, { leaseOwner: 'stale', events: read });
  expect(await tracesOf(Object.values(person))).toEqual([]);
  expect(await timeline.countDocuments({ memberId: id })).toBe(0);
});

it('a running import with the same address creates a new member', async () => {
  const person = somebody();
  const program = await real.merchant.program();
  const { id, memberCode } = await real.merchant.enroll({ programId: program._id, ...person });
  await service.stopWorker();
  const file = `${csvOf(20, `erase${people}`)}New,Person,${person.email},,7\r\n`;
  const started = await real.merchant.call(`/merchants/me/imports?programId=${program._id}`, {
    body: file,
    headers: { 'Content-Type': 'text/csv' },
  });
  expect(started.status).toBe(202);
  expect((await erase(id)).status).toBe(200);
  await service.startWorker();
  const { counts } = await batchEnd(real.merchant, started.body.data.id);
  expect(counts).toMatchObject({ created: 21, deduped: 0, failed: 0 });
  const { body } = await real.merchant.call(`/merchants/me/members?q=${person.email}`);
  expect(body.data.items).toMatchObject([{ firstName: 'New', balance: 7 }]);
  expect([id, memberCode]).not.toContain(body.data.items[0].id);
  await untilGone([person.firstName, person.lastName, person.phone]);
});

it('rows that fail in a running import after the removal leave nothing of the member', async () => {
  const person = somebody();
  const program = await real.merchant.program();
  const { id } = await real.merchant.enroll({ programId: program._id, ...person });
  const other = { programId: program._id, email: `other.${newId()}@example.com` };
  await real.merchant.enroll(other);
  const others = Array.from({ length: 600 }, (_, index) => `A,B,e${people}.${index}@example.com,`);
  const about = [`Otto,V,${person.email.toUpperCase()},no points`, `${person.firstName},${person.lastName},no email,`];
  const file = [
    'firstName,lastName,email,initialPoints',
    about[0],
    ...others,
    about[1],
    `Else,,${other.email},no points`,
  ];
  const { body } = await real.merchant.call(`/merchants/me/imports?programId=${program._id}&quiet=true`, {
    body: file.join('\n'),
    headers: { 'Content-Type': 'text/csv' },
  });
  const batch = `/merchants/me/batches/${body.data.id}`;
  await until(async () => (await real.merchant.call(batch)).body.data.counts.created > 0);
  expect((await erase(id)).status).toBe(200);
  expect((await real.merchant.call(batch)).body.data.finishedAt).toBeNull();
  expect((await batchEnd(real.merchant, body.data.id)).counts).toMatchObject({ created: 600, failed: 3 });
  await untilGone(Object.values(person));
  const { text } = await real.merchant.call(`${batch}/errors.csv`);
  expect(text).toContain(`Else,,${other.email},no points`);
});
