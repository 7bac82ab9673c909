// The engine of the tests takes more than MongoDB does. So what the service sends is held against the rules of
// MongoDB 8 (test/rig/mongodb/rules.ts): each command of a day at a merchant's, from the migration to an erasure.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { backup } from '../../../stack/commands/backup.js';
import { until } from '../../rig/checks/until.js';
import { type SentCommands, watchCommands } from '../../rig/mongodb/sentCommands.js';
import { runOn } from '../../rig/start/commandLine.js';
import { aDesigner } from '../../rig/start/designer.js';
import { batchEnd, csvOf, sendImport } from '../../rig/start/imports.js';
import { memberCalls } from '../../rig/start/memberCalls.js';
import type { TestMerchant } from '../../rig/start/merchant.js';
import { type SubscribedService, startSubscribedService } from '../../rig/start/subscribedService.js';

let sent: SentCommands;
let subscribed: SubscribedService;
let merchant: TestMerchant;
let folder: string;
let owner: Record<string, string>;

beforeAll(async () => {
  sent = watchCommands();
  subscribed = await startSubscribedService(['points.changed', 'reward.redeemed', 'campaign.sent', 'member.deleted']);
  ({ merchant } = subscribed);
  owner = { Authorization: `Bearer ${await merchant.token()}` };
  folder = await mkdtemp(join(tmpdir(), 'commands-'));
});
afterAll(async () => {
  sent.stop();
  await subscribed.stop();
  await rm(folder, { recursive: true, force: true });
});

const { points, earn, redeem, reverse, ledgerOf, one } = memberCalls(() => merchant);

async function get(path: string, credential?: Record<string, string>) {
  const answer = await merchant.call(path, credential ? { credential } : {});
  expect([path, answer.status]).toEqual([path, 200]);
  return answer.body?.data;
}

/** Points, tags and a status, a redemption that is taken back, and what can be read of them. */
async function sellAndRead(programId: string): Promise<string> {
  const person = { firstName: 'Ada', lastName: 'Lovelace', email: 'ada@commands.example', phone: '+49 170 7654321' };
  const { id, memberCode } = await merchant.enroll({ programId, initialPoints: 90, ...person });
  expect((await points(id, { delta: 20, changeMessage: 'Twenty more' })).status).toBe(200);
  expect((await earn(id, { amount: 500 }, { headers: { 'Idempotency-Key': 'one-sale-of-many' } })).status).toBe(200);
  expect((await redeem(id)).status).toBe(200);
  const [{ id: redemption }] = await ledgerOf(id);
  expect((await reverse(id, redemption)).status).toBe(200);
  const change = (path: string, method: string, body: object) => merchant.call(`${one(id)}${path}`, { method, body });
  expect((await change('/tags', 'POST', { tags: ['vip', 'gold'] })).status).toBe(200);
  for (const status of ['voided', 'active']) expect((await change('/status', 'PATCH', { status })).status).toBe(200);
  expect((await change('', 'PATCH', { lastName: 'Byron' })).status).toBe(200);
  expect((await merchant.call('/merchants/me/scans', { body: { code: memberCode } })).status).toBe(200);
  await until(async () => (await get('/merchants/me/events')).items.length > 5);
  for (const path of ['', '/balance', '/transactions', '/events', '/export']) await get(`${one(id)}${path}`, owner);
  for (const query of ['q=ada+byr', 'audience=away', 'email=ada@commands.example', 'pageSize=1&page=2'])
    await get(`/merchants/me/members?${query}`);
  for (const path of ['stats', 'members/tags', 'members.csv', 'requests', 'batches', 'audit'])
    await get(`/merchants/me/${path}`, owner);
  return id;
}

async function publish(programId: string): Promise<void> {
  const designer = await aDesigner(merchant);
  expect((await designer.edit(programId, { rewardName: 'A cake' })).status).toBe(200);
  const { body } = await designer.publish(programId);
  if (body.data.rebuild) await batchEnd(merchant, body.data.rebuild.batchId);
}

async function importAndWrite(programId: string): Promise<void> {
  expect((await sendImport(merchant, { programId, file: csvOf(3, 'few') })).body.data.counts).toMatchObject({
    created: 3,
  });
  const path = `/merchants/me/imports?programId=${programId}`;
  const { body } = await merchant.call(path, { body: csvOf(230), headers: { 'Content-Type': 'text/csv' } });
  expect(await batchEnd(merchant, body.data.id)).toMatchObject({ phase: 'completed' });
  const campaign = await merchant.call('/merchants/me/campaigns', { body: { programId, message: 'Come in' } });
  expect(await batchEnd(merchant, campaign.body.data.id)).toMatchObject({ phase: 'completed' });
}

async function replayOne(): Promise<void> {
  const all = '/merchants/me/webhooks';
  const first = await until(async () =>
    (await get(`${all}/delivery-logs?subscriptionId=${subscribed.subscriptionId}&success=true`)).items.at(-1),
  );
  const { length } = subscribed.receiver.requests;
  const since = new Date(Date.now() - 3_600_000).toISOString();
  expect((await merchant.call(`${all}/delivery-logs/${first.id}/replay`, { method: 'POST' })).status).toBe(200);
  const { status, body } = await merchant.call(`${all}/${subscribed.subscriptionId}/replay`, {
    body: { since, only: 'all' },
  });
  expect(status).toBe(202);
  await batchEnd(merchant, body.data.id);
  await subscribed.receiver.waitFor((requests) => requests.length > length);
}

async function tapATill(programId: string): Promise<void> {
  const { memberCode } = await merchant.enroll({ programId });
  const made = await merchant.call('/merchants/me/readers', { body: { name: 'Terrace till' }, credential: owner });
  const { pairingCode: code } = made.body.data;
  const paired = await merchant.call('/till/pair', { body: { code }, credential: null });
  const credential = { Authorization: `Bearer ${paired.body.data.token}` };
  for (const [path, more] of [
    ['lookup', {}],
    ['earn', { amount: 700 }],
  ] as const) {
    const headers = { 'Idempotency-Key': `till-${path}-once` };
    const { status } = await merchant.call(`/till/${path}`, { body: { memberCode, ...more }, credential, headers });
    expect([path, status]).toEqual([path, 200]);
  }
}

async function erase(memberId: string): Promise<void> {
  const { erasures } = subscribed.service.deps.collections;
  expect((await merchant.call(one(memberId), { method: 'DELETE', credential: owner })).status).toBe(200);
  await until(async () => (await erasures.findOne({ _id: memberId }))?.runs);
}

/** What a command does that the scenario must have reached. */
const kinds = (): Set<string> =>
  new Set(
    sent
      .shapes()
      .flatMap(({ name, transaction, isRetryable }) => [
        name,
        ...(transaction ? [`${name} in a transaction`] : []),
        ...(isRetryable ? [`${name} that is retried`] : []),
      ]),
  );

const nothingRefused = () => expect(sent.refused()).toEqual([]);

let programId: string;
let memberId: string;

it('MongoDB 8 would take the commands of the migration, of sales and of what is read of them', async () => {
  ({ _id: programId } = await merchant.program({ earn: { per: 100, points: 1, currency: 'EUR' } }));
  memberId = await sellAndRead(programId);
  nothingRefused();
});

it('it would take those of a publication, of a till and of replays', async () => {
  await publish(programId);
  await replayOne();
  await tapATill(programId);
  nothingRefused();
});

it('it would take those of imports and of a campaign', async () => {
  await importAndWrite(programId);
  nothingRefused();
});

it('it would take those of a backup and of an erasure', async () => {
  expect(await runOn(subscribed.service, backup, [join(folder, 'copy')])).toMatchObject({ code: 0 });
  await erase(memberId);
  nothingRefused();
});

it('the commands were of every kind', () => {
  expect([...kinds()]).toEqual(
    expect.arrayContaining([
      ...['createIndexes', 'find', 'getMore', 'aggregate', 'findAndModify', 'bulkWrite', 'commitTransaction'],
      ...['bulkWrite in a transaction', 'find in a transaction', 'update that is retried'],
    ]),
  );
});
