// Invalid uploads get a 4xx with a code, create nothing and leave no batch, and the service keeps running.
import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Program } from '../../../schemas/programs/programs.schema.js';
import { until } from '../../rig/checks/until.js';
import { csvHeader, csvOf, importForm, sendImport } from '../../rig/start/imports.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;
let program: Program;

beforeAll(async () => {
  service = await startService({ env: { BULK_IMPORT_MAX_ROWS: '600', BULK_IMPORT_MAX_BYTES: '2000000' } });
  merchant = await aMerchant(service);
  program = await merchant.program();
});

afterAll(() => service.stop());

const file = `${csvHeader}\nAda,Lovelace,ada@example.com,,\n`;
const importPath = '/merchants/me/members/import';

const left = async () => {
  const { members, batches, importChunks } = service.deps.collections;
  const at = { merchantId: merchant.id };
  const counts = await Promise.all([
    members.countDocuments(at),
    batches.countDocuments(at),
    importChunks.countDocuments(at),
  ]);
  return counts.reduce((sum, count) => sum + count, 0);
};

const boundary = 'edge-of-a-part';
const part = (name: string, body: string, extra = '') =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${extra}\r\n\r\n${body}\r\n`;
const filePart = (body: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="m.csv"\r\nContent-Type: text/csv\r\n\r\n${body}\r\n`;
const raw = (body: string) =>
  merchant.call(importPath, { body, headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` } });

describe('an upload', () => {
  const bodies: [string, () => string, string][] = [
    [
      'with two files',
      () => `${part('programId', program._id)}${filePart(file)}${filePart(file)}--${boundary}--\r\n`,
      'IMPORT_INVALID',
    ],
    ['without a file', () => `${part('programId', program._id)}--${boundary}--\r\n`, 'IMPORT_INVALID'],
    [
      'with its file as text',
      () => `${part('programId', program._id)}${part('file', file)}--${boundary}--\r\n`,
      'IMPORT_INVALID',
    ],
    ['without a program', () => `${filePart(file)}--${boundary}--\r\n`, 'VALIDATION_FAILED'],
    [
      'with two programs',
      () => `${part('programId', program._id)}${part('programId', program._id)}${filePart(file)}--${boundary}--\r\n`,
      'VALIDATION_FAILED',
    ],
    [
      'with an unknown field',
      () => `${part('programId', program._id)}${part('__proto__', 'x')}${filePart(file)}--${boundary}--\r\n`,
      'VALIDATION_FAILED',
    ],
    [
      'with a long program',
      () => `${part('programId', 'x'.repeat(65))}${filePart(file)}--${boundary}--\r\n`,
      'VALIDATION_FAILED',
    ],
    [
      'that ends in the middle of its file',
      () => `${part('programId', program._id)}${filePart(file).slice(0, -20)}`,
      'IMPORT_INVALID',
    ],
    [
      'that ends before its closing boundary',
      () => `${part('programId', program._id)}${filePart(file)}`,
      'IMPORT_INVALID',
    ],
    [
      'of a hundred parts',
      () => `${part('programId', program._id).repeat(100)}${filePart(file)}--${boundary}--\r\n`,
      'VALIDATION_FAILED',
    ],
    ['that is no multipart inside', () => 'just text', 'IMPORT_INVALID'],
  ];
  it.each(bodies)('%s is refused and creates nothing', async (_name, body, code) => {
    const answer = await raw(body());
    expect(answer.status).toBe(400);
    expect(answer.body.error.code).toBe(code);
    expect(await left()).toBe(0);
  });

  it('whose file is not CSV by its type or its content is refused', async () => {
    for (const type of ['image/png', 'application/zip', 'application/json']) {
      const { status, body } = await sendImport(merchant, { programId: program._id, file, type });
      expect([status, body.error.code]).toEqual([400, 'IMPORT_INVALID']);
    }
    const bomb = new Uint8Array(gzipSync(Buffer.alloc(50_000_000)));
    const { status, body } = await sendImport(merchant, { programId: program._id, file: bomb });
    expect([status, body.error.code]).toEqual([400, 'IMPORT_INVALID']);
    expect(await left()).toBe(0);
  });

  it('of another content type, encoded, or without a boundary is refused', async () => {
    const kinds: [Record<string, string>, number][] = [
      [{ 'Content-Type': 'application/json' }, 415],
      [{ 'Content-Type': 'text/csv' }, 415],
      [{ 'Content-Type': 'application/x-www-form-urlencoded' }, 415],
      [{ 'Content-Type': `multipart/form-data; boundary=${boundary}`, 'Content-Encoding': 'gzip' }, 415],
      [{ 'Content-Type': 'multipart/form-data' }, 400],
    ];
    for (const [headers, status] of kinds)
      expect((await merchant.call(importPath, { method: 'POST', body: file, headers })).status).toBe(status);
  });

  it('for a program that is unknown, archived or of another merchant is refused', async () => {
    const archived = await merchant.program({ archived: true });
    const foreign = await (await aMerchant(service)).program();
    const answers = await Promise.all(
      ['no-such', foreign._id, archived._id].map((programId) => sendImport(merchant, { programId, file })),
    );
    expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual([
      [404, 'PROGRAM_NOT_FOUND'],
      [404, 'PROGRAM_NOT_FOUND'],
      [400, 'PROGRAM_ARCHIVED'],
    ]);
    expect(await left()).toBe(0);
  });

  it('over 1 MB or 5,000 rows is refused, however large it is', async () => {
    const big = `${csvHeader}\n${'Ada,Lovelace,,,\n'.repeat(1_000_000)}`;
    for (const content of [csvOf(5_001), big, `${csvHeader}\n${'x'.repeat(1_048_577)}`]) {
      const { status, body } = await sendImport(merchant, { programId: program._id, file: content });
      expect(status).toBe(400);
      expect(['IMPORT_TOO_LARGE', 'IMPORT_INVALID']).toContain(body.error.code);
    }
    const { body } = await sendImport(merchant, { programId: program._id, file: csvOf(5_001) });
    expect(body.error.code).toBe('IMPORT_TOO_LARGE');
    expect(await left()).toBe(0);
  });

  it('by a viewer or without a credential is refused before it is read', async () => {
    const viewer = await aMerchant(service, { roleIds: ['viewer'] });
    expect((await sendImport(viewer, { programId: program._id, file })).status).toBe(403);
    const nobody = await merchant.call(importPath, {
      body: importForm({ programId: program._id, file }),
      credential: null,
    });
    expect(nobody.status).toBe(401);
  });
});

describe('a large upload', () => {
  const send = (body: string, query = `?programId=${program._id}`) =>
    merchant.call(`/merchants/me/imports${query}`, { body, headers: { 'Content-Type': 'text/csv' } });

  const nothingLeft = () => until(async () => (await left()) === 0);

  it('that fails after its rows were stored removes all of them', async () => {
    const rows = csvOf(500);
    expect((await send(`${rows}"never closed`)).body.error.code).toBe('IMPORT_INVALID');
    expect((await send(`${rows}${'a,,,,\n'.repeat(101)}`)).body.error.code).toBe('IMPORT_TOO_LARGE');
    expect((await send(`${rows}${'a'.repeat(70_000)}\n`)).body.error.code).toBe('IMPORT_INVALID');
    await nothingLeft();
  });

  it('without a program, or with the program after the file, is refused', async () => {
    expect((await send(csvOf(1), '')).body.error.code).toBe('VALIDATION_FAILED');
    const late = await merchant.call('/merchants/me/imports', { body: importForm({ programId: program._id, file }) });
    expect(late.body.error.code).toBe('VALIDATION_FAILED');
    expect((await send(csvOf(1), '?programId=no-such')).status).toBe(404);
    expect((await send(csvOf(1), `?programId=${program._id}&dryRun=maybe`)).status).toBe(400);
    await nothingLeft();
  });

  it('with a field after the file is refused, and nothing of the file is stored then', async () => {
    const form = new FormData();
    form.set('file', new Blob([csvOf(2_000)], { type: 'text/csv' }), 'members.csv');
    form.set('quiet', 'true');
    const refused = await merchant.call(`/merchants/me/imports?programId=${program._id}`, { body: form });
    expect(refused.body.error.code).toBe('VALIDATION_FAILED');
    expect(await left()).toBe(0);
  });

  it('that is cut off in the middle ends as failed, and its rows are gone', async () => {
    const url = new URL(`${service.baseUrl}/merchants/me/imports?programId=${program._id}`);
    const upload = request(url, {
      method: 'POST',
      headers: { 'X-API-Key': merchant.apiKey, 'Content-Type': 'text/csv', 'Content-Length': '1000000' },
    });
    const ended = new Promise((resolve) => upload.once('error', resolve));
    upload.write(csvOf(550));
    await until(() => service.deps.collections.batches.findOne({ merchantId: merchant.id, phase: 'storing' }));
    upload.destroy();
    await ended;
    const { batches, importChunks, members } = service.deps.collections;
    const at = { merchantId: merchant.id };
    const batch = await until(() => batches.findOne({ ...at, phase: 'failed' }));
    await until(async () => (await importChunks.countDocuments(at)) === 0);
    expect(await members.countDocuments(at)).toBe(0);
    expect(batch).toMatchObject({ reason: expect.stringContaining('broke off'), finishedAt: expect.any(Date) });
    expect(await service.deps.collections.events.countDocuments({ 'data.batchId': batch._id })).toBe(1);
    // The audit has imports that were queued.
    expect(await service.deps.collections.audit.countDocuments({ ...at, targetId: batch._id })).toBe(0);
  });
});
