// Imports that are polled, cancelled, corrected and sent again, and whose workers stop and start.
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownTransactionSeconds } from '../../../platform/mongodb/readSnapshot.js';
import type { Program } from '../../../schemas/programs/programs.schema.js';
import { delimiters } from '../../../schemas/shared/csv.rules.js';
import { importId } from '../../../schemas/shared/ids.js';
import { taskQueues } from '../../../schemas/tables/workflows.js';
import { timed } from '../../rig/checks/stalls.js';
import { until } from '../../rig/checks/until.js';
import { batchEnd, csvOf, sendImport, sendImportOnce } from '../../rig/start/imports.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';
import { type SubscribedService, startSubscribedService } from '../../rig/start/subscribedService.js';

let subscribed: SubscribedService;
let service: TestService;
let merchant: TestMerchant;
let program: Program;

beforeAll(async () => {
  subscribed = await startSubscribedService(['member.created', 'batch.completed', 'batch.failed']);
  ({ service, merchant } = subscribed);
  program = await merchant.program();
});

afterAll(() => subscribed.stop());

const large = (file: string, query = '', headers = {}) =>
  merchant.call(`/merchants/me/imports?programId=${program._id}${query}`, {
    body: file,
    headers: { 'Content-Type': 'text/csv', ...headers },
  });

const eventsOf = (type: string) => subscribed.envelopes().filter((envelope) => envelope.event === type);

const ended = (batchId: string, type: string) =>
  until(() => eventsOf(type).find((envelope) => envelope.data.batchId === batchId));

const emails = (prefix: string) =>
  service.deps.collections.members
    .find({ merchantId: merchant.id, email: { $gte: `${prefix}.`, $lt: `${prefix}/` } })
    .toArray();

/** Checks that each member of the import exists once, and that after dedupe one event for it arrived. */
async function expectOnceEach(prefix: string, count: number): Promise<void> {
  const members = await emails(prefix);
  expect(members).toHaveLength(count);
  expect(new Set(members.map((member) => member.email)).size).toBe(count);
  const ids = new Set(members.map((member) => member._id));
  const eventIds = await until(() => {
    const events = eventsOf('member.created').filter((envelope) => ids.has(envelope.data.memberId));
    const distinct = new Map(events.map((envelope) => [envelope.eventId, envelope.data.memberId]));
    return distinct.size >= count && distinct;
  });
  expect([...eventIds.values()].sort()).toEqual([...ids].sort());
}

describe('a batch', () => {
  it('is listed and read by its own merchant only', async () => {
    const { body } = await sendImport(merchant, { programId: program._id, file: csvOf(3, 'listed') });
    const batch = await batchEnd(merchant, body.data.batchId);
    expect(batch).toMatchObject({
      kind: 'members.import',
      phase: 'completed',
      programId: program._id,
      counts: { total: 3, created: 3, deduped: 0, failed: 0 },
      percent: 100,
      startedBy: { type: 'api-key' },
    });
    const list = await merchant.call('/merchants/me/batches?pageSize=1');
    expect(list.body.data).toMatchObject({ items: [batch], page: 1, total: expect.any(Number) });
    const other = await aMerchant(service);
    const paths = ['', '/errors.csv', '/known.csv', '/cancel'].map((end) => `/merchants/me/batches/${batch.id}${end}`);
    for (const path of paths)
      expect((await other.call(path, { method: path.endsWith('cancel') ? 'POST' : 'GET' })).body.error.code).toBe(
        'BATCH_NOT_FOUND',
      );
    expect((await merchant.call('/merchants/me/batches/no-such')).status).toBe(404);
  });

  it('returns its failed rows without formulas, and removes the guard when they are uploaded again', async () => {
    const file =
      'Phone,Email,firstName\r\n+49 170 5556677,wrong,"Ada ""A"", L"\r\n,fine.0@example.com,Fine\r\n=1+1,x.1@example.com,"two\nlines"\r\n';
    const { body } = await sendImport(merchant, { programId: program._id, file });
    expect(body.data.counts).toEqual({ total: 3, created: 1, deduped: 0, failed: 2 });
    const [first, , third] = body.data.results;
    const errors = await merchant.call(`/merchants/me/batches/${body.data.batchId}/errors.csv`);
    expect(errors.headers.get('content-type')).toContain('text/csv');
    // Reading the response as text removes its byte order mark.
    expect(errors.text.replace('\uFEFF', '')).toBe(
      `row,Phone,Email,firstName,reason\r\n1,'+49 170 5556677,wrong,"Ada ""A"", L",${first.reason}\r\n3,'=1+1,x.1@example.com,"two\nlines","${third.reason}"\r\n`,
    );
    const mended = errors.text
      .replace(',wrong,', ',mended@example.com,')
      .replace("'=1+1", '')
      .replace('two\nlines', 'two');
    const again = await sendImport(merchant, { programId: program._id, file: mended });
    expect(again.body.data.counts).toEqual({ total: 2, created: 2, deduped: 0, failed: 0 });
    const phones = await service.deps.collections.members.distinct('phone', { email: 'mended@example.com' });
    expect(phones).toEqual(['+49 170 5556677']);
  });

  it.each([...delimiters])(
    'returns its failed rows with the delimiter %j of its file and a byte order mark',
    async (delimiter) => {
      const lines = [
        ['Email', 'lastName'],
        ['wrong', 'A;b\tc, d'],
        [`delimiter.${delimiter.charCodeAt(0)}@example.com`, 'B'],
      ];
      const file = lines.map((cells) => cells.map((cell) => `"${cell}"`).join(delimiter)).join('\n');
      const { body } = await sendImport(merchant, { programId: program._id, file });
      const { batchId, results } = body.data;
      const url = `${service.baseUrl}/merchants/me/batches/${batchId}/errors.csv`;
      const download = async () => {
        const answer = await fetch(url, { headers: { 'X-API-Key': merchant.apiKey } });
        return Buffer.from(await answer.arrayBuffer()).toString();
      };
      const written = [
        ['row', 'Email', 'lastName', 'reason'],
        ['1', 'wrong', 'A;b\tc, d', results[0].reason],
      ];
      const text = await download();
      expect(text).toContain(`\uFEFFrow${delimiter}Email${delimiter}`);
      expect(parse(text, { bom: true, delimiter })).toEqual(written);
    },
  );

  it('reads its failed rows by its own mapping when they are sent again, also those that fail twice', async () => {
    const mapping = JSON.stringify({ Mail: 'email', Nom: 'lastName', Ville: null });
    const file = 'Mail;Nom;Ville\nun;Un;Lyon\ndeux;Deux;Brest\ntrois;Trois;Nice\n';
    const { body } = await sendImport(merchant, { programId: program._id, file, fields: { mapping } });
    const errors = async (id: string) => (await merchant.call(`/merchants/me/batches/${id}/errors.csv`)).text;
    const mend = (text: string, one: string) => text.replace(`;${one};`, `;mapped.${one}@example.com;`);
    const fields = { repairs: body.data.batchId };
    const mended = mend(await errors(body.data.batchId), 'un');
    const tried = await sendImport(merchant, {
      programId: program._id,
      file: mended,
      fields: { ...fields, dryRun: 'true' },
    });
    expect(tried.body.data.counts).toMatchObject({ created: 1, failed: 2 });
    const first = await sendImport(merchant, { programId: program._id, file: mended, fields });
    expect(first.body.data.counts).toMatchObject({ created: 1, failed: 2 });
    const { batchId } = first.body.data;
    const again = mend(mend(await errors(batchId), 'deux'), 'trois');
    const second = await large(again, `&repairs=${batchId}&mapping=${encodeURIComponent('{"ville":"firstName"}')}`);
    expect(await batchEnd(merchant, second.body.data.id)).toMatchObject({
      counts: { created: 2, failed: 0 },
      mapping: { mail: 'email', nom: 'lastName', ville: 'firstName' },
    });
    const members = (await emails('mapped')).map(({ lastName, firstName }) => [lastName, firstName]);
    expect(members.sort()).toEqual([
      ['Deux', 'Brest'],
      ['Trois', 'Nice'],
      ['Un', undefined],
    ]);
  });

  it('says which import has sent its failed rows again', async () => {
    const { body } = await sendImport(merchant, { programId: program._id, file: 'email\r\nwrong\r\n' });
    const { batchId } = body.data;
    const read = async (id: string) => (await merchant.call(`/merchants/me/batches/${id}`)).body.data;
    expect(await read(batchId)).not.toHaveProperty('repairedBy');
    const again = await large('email\r\nright@example.com\r\n', `&repairs=${batchId}`);
    expect(again.body.data).toMatchObject({ repairs: batchId });
    await batchEnd(merchant, again.body.data.id);
    expect(await read(batchId)).toMatchObject({ repairedBy: again.body.data.id });
    const listed = (await merchant.call('/merchants/me/batches')).body.data.items;
    expect(listed.find(({ id }: { id: string }) => id === batchId)).toMatchObject({ repairedBy: again.body.data.id });
    await service.deps.collections.batches.updateOne({ _id: again.body.data.id }, { $set: { phase: 'cancelled' } });
    expect(await read(batchId)).not.toHaveProperty('repairedBy');

    const other = await aMerchant(service);
    const { _id } = await other.program();
    const foreign = await other.call(`/merchants/me/imports?programId=${_id}&repairs=${batchId}`, {
      body: 'email\r\nright@example.com\r\n',
      headers: { 'Content-Type': 'text/csv' },
    });
    expect([foreign.status, foreign.body.error.details[0].path]).toEqual([400, 'repairs']);
  });

  it('of a large file is answered at once, runs the same steps, and has correct counts at its end', async () => {
    const { status, body } = await large(csvOf(700, 'large'));
    expect([status, body.data.counts.total]).toEqual([202, 700]);
    const batch = await batchEnd(merchant, body.data.id);
    expect(batch.counts).toEqual({ total: 700, created: 700, deduped: 0, failed: 0 });
    expect(batch.passIssuance).toEqual({ apple: 700, google: 700 });
    await expectOnceEach('large', 700);
    const again = await large(csvOf(700, 'large'), '', { 'Idempotency-Key': 'the-second-time' });
    expect((await batchEnd(merchant, again.body.data.id)).counts).toEqual({
      total: 700,
      created: 0,
      deduped: 700,
      failed: 0,
    });
  });
});

describe('while no worker runs', () => {
  it('a small import is refused within 10 s and creates nothing, then or later', async () => {
    await service.stopWorker();
    const sent = () => sendImportOnce(merchant, { programId: program._id, file: csvOf(20, 'unavailable') });
    const { made: refused, ms } = await timed(sent);
    expect(ms).toBeLessThan(10_000);
    expect([refused.status, refused.body.error.code]).toEqual([503, 'UNAVAILABLE']);
    expect(refused.headers.get('retry-after')).toBe('5');
    const { batchId } = refused.body.error.details;
    const batch = await merchant.call(`/merchants/me/batches/${batchId}`);
    expect(batch.body.data).toMatchObject({ phase: 'cancelled', counts: { total: 20, created: 0 } });
    await service.startWorker();
    await ended(batchId, 'batch.failed');
    expect(await emails('unavailable')).toHaveLength(0);
    const again = await sendImport(merchant, { programId: program._id, file: csvOf(20, 'unavailable') });
    expect(again.body.data.counts).toMatchObject({ created: 20 });
  });

  it('a large import waits; when it is cancelled it creates nothing and returns all rows', async () => {
    await service.stopWorker();
    const kept = await large(csvOf(300, 'kept'));
    const dropped = await large(csvOf(300, 'dropped'));
    const cancelled = await merchant.call(`/merchants/me/batches/${dropped.body.data.id}/cancel`, { method: 'POST' });
    expect(cancelled.body.data).toMatchObject({ phase: 'queued', cancelRequested: true });
    await service.startWorker();
    const over = await batchEnd(merchant, dropped.body.data.id);
    expect(over).toMatchObject({ phase: 'cancelled', counts: { total: 300, created: 0, deduped: 0, failed: 300 } });
    expect((await ended(over.id, 'batch.failed')).data).toMatchObject({ counts: over.counts, reason: over.reason });
    const errors = await merchant.call(`/merchants/me/batches/${over.id}/errors.csv`);
    expect(errors.text.trim().split('\r\n')).toHaveLength(301);
    expect((await batchEnd(merchant, kept.body.data.id)).counts.created).toBe(300);
    const late = await merchant.call(`/merchants/me/batches/${over.id}/cancel`, { method: 'POST' });
    expect([late.status, late.body.data.phase]).toEqual([200, 'cancelled']);
    expect(await emails('dropped')).toHaveLength(0);
  });

  it('the same file sent again joins the unanswered import', async () => {
    await service.stopWorker();
    const file = 'firstName\nNobody\nKnows\n';
    const first = sendImport(merchant, { programId: program._id, file });
    await until(() => service.deps.collections.batches.findOne({ merchantId: merchant.id, phase: 'queued' }));
    const second = sendImport(merchant, { programId: program._id, file });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await service.startWorker();
    const answers = await Promise.all([first, second]);
    expect(answers[0].body.data).toMatchObject({ counts: { created: 2 } });
    expect(answers[1].body.data).toEqual(answers[0].body.data);
  });
});

it('a small import waits for a row that another transaction holds, while its worker tries again', async () => {
  const { collections, mongo } = service.deps;
  // The embedded engine of the tests ends transactions after 3 s.
  const endTransactionsAfter = (seconds: number) =>
    mongo.db('admin').command({ setParameter: 1, transactionLifetimeLimitSeconds: seconds });
  const row = { _id: `${program._id}:held.15@example.com`, merchantId: merchant.id, memberId: 'm', memberCode: 'c' };
  await endTransactionsAfter(60);
  const session = mongo.startSession();
  try {
    session.startTransaction();
    await collections.emails.insertOne(row, { session });
    const answer = sendImportOnce(merchant, { programId: program._id, file: csvOf(20, 'held') });
    const first = await Promise.race([answer, new Promise((resolve) => setTimeout(resolve, 8_500, 'none yet'))]);
    expect(first).toBe('none yet');
    await session.abortTransaction();
    expect((await answer).body).toMatchObject({ data: { counts: { created: 20 } } });
  } finally {
    await session.endSession();
    await endTransactionsAfter(ownTransactionSeconds);
  }
});

describe('an import that loses its worker or workflow', () => {
  it('continues with the next worker, twice, and does nothing twice', async () => {
    const { body } = await large(csvOf(1_000, 'workers'));
    const batchId = body.data.id;
    const reached = (check: (batch: { done: number; completedMembers?: number }) => boolean) =>
      until(async () => {
        const batch = await service.deps.collections.batches.findOne({ _id: batchId });
        return batch && check(batch);
      });
    await reached((batch) => batch.done > 250);
    await service.stopWorker();
    await service.startWorker();
    await reached((batch) => (batch.completedMembers ?? 0) > 250);
    await service.stopWorker();
    await service.startWorker();
    const batch = await batchEnd(merchant, batchId);
    expect(batch).toMatchObject({
      phase: 'completed',
      counts: { total: 1_000, created: 1_000, deduped: 0, failed: 0 },
    });
    await expectOnceEach('workers', 1_000);
    const events = await ended(batchId, 'batch.completed');
    expect(events.data).toMatchObject({ counts: batch.counts, passIssuance: { apple: 1_000, google: 1_000 } });
  });

  it('gets a new workflow when its workflow was terminated', async () => {
    await service.stopWorker();
    const { body } = await large(csvOf(300, 'revived'));
    const batchId = body.data.id;
    await service.client.workflow.getHandle(importId(batchId)).terminate('by a test');
    await service.deps.collections.batches.updateOne(
      { _id: batchId },
      { $set: { startedAt: new Date(Date.now() - 60_000) } },
    );
    await service.startWorker();
    const revival = await service.client.workflow.start('reviveWork', {
      workflowId: `revive:${batchId}`,
      taskQueue: taskQueues.workflows,
    });
    await revival.result();
    expect((await batchEnd(merchant, batchId)).counts.created).toBe(300);
    await expectOnceEach('revived', 300);
  });

  it('reset by an operator after its end creates and publishes nothing again', async () => {
    const { body } = await sendImport(merchant, { programId: program._id, file: csvOf(40, 'reset') });
    const { batchId } = body.data;
    await ended(batchId, 'batch.completed');
    const workflowId = importId(batchId);
    const handle = service.client.workflow.getHandle(workflowId);
    const { runId } = await handle.describe();
    const { events } = await handle.fetchHistory();
    const begun = events?.find((event) => event.workflowTaskCompletedEventAttributes)?.eventId ?? null;
    await service.client.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId, runId },
      workflowTaskFinishEventId: begun,
      requestId: batchId,
      reason: 'by a test',
    });
    await service.client.workflow.getHandle(workflowId).result();
    expect(await emails('reset')).toHaveLength(40);
    expect((await merchant.call(`/merchants/me/batches/${batchId}`)).body.data.counts.created).toBe(40);
    const ends = eventsOf('batch.completed').filter((envelope) => envelope.data.batchId === batchId);
    expect(ends).toHaveLength(1);
    await expectOnceEach('reset', 40);
  });
});
