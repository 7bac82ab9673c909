// The link to the card by mail for the people of an import: each once, at the rate of the program, by a workflow that
// an operator finds (docs/interface.md#48-imports-and-batches).
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mailCards } from '../../../activities/batches/cardMails.activity.js';
import { queueMail } from '../../../activities/mail/queueMail.writes.js';
import type { Program } from '../../../schemas/programs/programs.schema.js';
import { until } from '../../rig/checks/until.js';
import { type SmtpServer, startSmtpServer } from '../../rig/standins/smtpServer.js';
import { batchEnd, sendImport } from '../../rig/start/imports.js';
import { aMerchant, outcome, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';
import { startTestWorker, type TestWorker } from '../../rig/start/testWorker.js';

let smtp: SmtpServer;
let service: TestService;
let worker: TestWorker;
let merchant: TestMerchant;
let program: Program;
let aheadMs = 0;

beforeAll(async () => {
  smtp = await startSmtpServer();
  const env = { SMTP_URL: `smtp://127.0.0.1:${smtp.port}`, MAIL_PER_PROGRAM_A_MINUTE: '5' };
  const now = () => new Date(Date.now() + aheadMs);
  service = await startService({ env, now });
  worker = await startTestWorker(service);
});
afterAll(async () => {
  await worker.close();
  await service.stop();
  await smtp.close();
});
beforeEach(async () => {
  merchant = await aMerchant(service);
  program = await merchant.program({ name: 'Corner Coffee', language: 'de' });
});

const path = (batchId: string) => `/merchants/me/batches/${batchId}/card-mails`;
const start = (batchId: string) => merchant.call(path(batchId), { method: 'POST' });
const mailsTo = (address: string) => smtp.mails.filter(({ to }) => to.includes(address));
const addressesOf = (count: number) =>
  Array.from({ length: count }, (_, at) => `${merchant.id}.${at}@example.org`.toLowerCase());

async function anImport(addresses: readonly string[]): Promise<string> {
  const lines = [...addresses, ''].map((address, at) => `Person ${at},${address}`);
  const { body } = await sendImport(merchant, {
    programId: program._id,
    file: ['firstName,email', ...lines].join('\n'),
  });
  expect(body.data.counts).toMatchObject({ created: addresses.length + 1 });
  const { batchId } = body.data;
  await batchEnd(merchant, batchId);
  return batchId;
}

describe('the people of an import', () => {
  it('are counted, and each gets one mail with the card, also when it is asked for again', async () => {
    const addresses = addressesOf(4);
    const importId = await anImport(addresses);
    expect((await merchant.call(path(importId))).body.data).toEqual({ people: 4, withoutEmail: 1, minutes: 1 });
    expect((await merchant.call(`/merchants/me/batches/${importId}`)).body.data.cardMails).toBe('possible');
    const [first, second] = await Promise.all([start(importId), start(importId)]);
    expect([first.status, second.status]).toEqual([202, 202]);
    const { id } = first.body.data;
    expect(second.body.data.id).toBe(id);
    expect(first.body.data).toMatchObject({ kind: 'cards.mail', mailsCardsOf: importId, programId: program._id });
    const ended = await batchEnd(merchant, id);
    expect(ended).toMatchObject({ phase: 'completed', counts: { total: 5, created: 4, deduped: 1, failed: 0 } });
    for (const address of addresses) {
      const [mail] = await until(() => mailsTo(address).length > 0 && mailsTo(address));
      expect(mail?.parsed.text ?? '').toContain(service.publicUrl);
    }
    const { workflowId, type, searchAttributes } = await service.client.workflow.getHandle(`cards:${id}`).describe();
    expect([workflowId, type, searchAttributes.BatchId]).toEqual([`cards:${id}`, 'mailCards', [id]]);
    expect((await merchant.call(`/merchants/me/batches/${importId}`)).body.data.cardMails).toBe('started');
    await service.deps.collections.batches.updateOne({ _id: id }, { $set: { phase: 'failed' } });
    const again = await start(importId);
    expect(again.body.data.id).not.toBe(id);
    await batchEnd(merchant, again.body.data.id);
    for (const address of addresses) expect(mailsTo(address)).toHaveLength(1);
  });

  it('are mailed as many in a minute as the program may, and the batch is cancelled on the way', async () => {
    const addresses = addressesOf(7);
    const importId = await anImport(addresses);
    const { body } = await start(importId);
    const { id } = body.data;
    const sent = () => addresses.filter((address) => mailsTo(address).length > 0).length;
    await until(() => sent() === 5);
    const { merchantId } = (await service.deps.collections.batches.findOne({ _id: id })) ?? {};
    const step = {
      batchId: id,
      from: 0,
      shutdownSignal: AbortSignal.abort(),
      cancellationSignal: new AbortController().signal,
    };
    const waited = await mailCards(worker.deps, step);
    expect(waited).toMatchObject({ next: 0, over: false });
    expect(waited.waitMs).toBeGreaterThan(0);
    expect(waited.waitMs).toBeLessThanOrEqual(10_000);
    expect(await service.deps.collections.mails.countDocuments({ merchantId: merchantId ?? '' })).toBe(5);
    await merchant.call(`/merchants/me/batches/${id}/cancel`, { method: 'POST' });
    expect(await batchEnd(merchant, id)).toMatchObject({ phase: 'cancelled' });
    aheadMs = 61_000;
    const rest = await start(importId);
    expect(await batchEnd(merchant, rest.body.data.id)).toMatchObject({ phase: 'completed', counts: { created: 7 } });
    aheadMs = 0;
    await until(() => sent() === 7);
    for (const address of addresses) expect(mailsTo(address)).toHaveLength(1);
  });

  it('are mailed by a further batch when their address had its share of such mails', async () => {
    const addresses = addressesOf(2);
    const importId = await anImport(addresses);
    const member = await service.deps.collections.members.findOne({
      merchantId: merchant.id,
      email: addresses[0] ?? '',
    });
    const share = worker.deps.config.MAIL_PER_ADDRESS_AN_HOUR;
    for (let mail = 0; mail < share; mail += 1)
      await queueMail(worker.deps, {
        ...{ merchantId: merchant.id, programId: program._id, memberId: member?._id ?? '', to: addresses[0] ?? '' },
        ...{ kind: 'card-link', language: 'de', reason: `test:${mail}` },
      });
    aheadMs = 61_000;
    const first = await start(importId);
    expect(await batchEnd(merchant, first.body.data.id)).toMatchObject({
      counts: { created: 1, deduped: 1, failed: 1 },
    });
    expect((await merchant.call(`/merchants/me/batches/${importId}`)).body.data.cardMails).toBe('possible');
    aheadMs = 3_700_000;
    const second = await start(importId);
    expect(await batchEnd(merchant, second.body.data.id)).toMatchObject({
      counts: { created: 2, deduped: 1, failed: 0 },
    });
    aheadMs = 0;
    for (const address of addresses)
      await until(() => mailsTo(address).length === (address === addresses[0] ? share + 1 : 1));
  });

  it('are mailed only after the end of an import that made members, and only those who are still members', async () => {
    const addresses = addressesOf(2);
    const importId = await anImport(addresses);
    const erased = await service.deps.collections.members.findOne({
      merchantId: merchant.id,
      email: addresses[0] ?? '',
    });
    const credential = { Authorization: `Bearer ${await merchant.token()}` };
    await merchant.call(`/merchants/me/members/${erased?._id}`, { method: 'DELETE', credential });
    const { body } = await start(importId);
    expect(await batchEnd(merchant, body.data.id)).toMatchObject({ counts: { created: 1 } });
    await until(() => mailsTo(addresses[1] ?? '').length === 1);
    expect(mailsTo(addresses[0] ?? '')).toEqual([]);

    expect(outcome(await start(body.data.id))).toEqual([404, 'BATCH_NOT_FOUND']);
    const { batches } = service.deps.collections;
    await batches.updateOne({ _id: importId }, { $unset: { rowsUntil: '' } });
    for (const answer of [await start(importId), await merchant.call(path(importId))])
      expect(outcome(answer)).toEqual([409, 'CARDS_NOT_MAILABLE']);
    expect((await merchant.call(`/merchants/me/batches/${importId}`)).body.data.cardMails).toBeUndefined();
  });
});

it('without mail no import offers it', async () => {
  const silent = await startService({ worker: false });
  const other = await aMerchant(silent);
  const _id = crypto.randomUUID();
  await silent.deps.collections.batches.insertOne({
    ...{ _id, merchantId: other.id, kind: 'members.import', phase: 'completed', done: 1, chunks: 0 },
    ...{ counts: { total: 1, created: 1, deduped: 0, failed: 0 }, passIssuance: { apple: 0, google: 0 } },
    ...{ startedBy: { type: 'user', id: 'owner' }, startedAt: new Date(), rowsUntil: new Date(Date.now() + 60_000) },
  });
  expect((await other.call(`/merchants/me/batches/${_id}`)).body.data.cardMails).toBeUndefined();
  expect(outcome(await other.call(path(_id), { method: 'POST' }))).toEqual([409, 'CARDS_NOT_MAILABLE']);
  await silent.stop();
});
