// A member that is erased while an import with its values runs: rows that become no member's are empty as soon as that
// is decided, and the rows of everybody else are complete. There is no worker, so that each step runs when it should.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChunks } from '../../../activities/batches/imports/createChunks.writes.js';
import { createImported } from '../../../activities/batches/imports/createImported.activity.js';
import { finishImport } from '../../../activities/batches/imports/finishImport.activity.js';
import {
  openImport,
  queueImport,
  storeChunk,
  withdrawQueued,
} from '../../../activities/batches/imports/openImport.effect.js';
import { publishImported } from '../../../activities/batches/imports/publishImported.activity.js';
import { endErasure, removeTraces } from '../../../activities/persons/removeTraces.activity.js';
import type { Deps } from '../../../platform/deps.js';
import type { ImportChunkRow } from '../../../schemas/batches/batches.rows.js';
import type { Program } from '../../../schemas/programs/programs.schema.js';
import { newId } from '../../../schemas/shared/ids.js';
import { loggedLines } from '../../rig/checks/failureLog.js';
import { findTraces } from '../../rig/checks/findTraces.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';
import { startTestWorker, type TestWorker } from '../../rig/start/testWorker.js';

const begun = new Date();
const never = new AbortController().signal;
const header = 'firstName,lastName,email,phone,initialPoints,externalId';
const rowsOfFile = 350;

let service: TestService;
let worker: TestWorker;
let merchant: TestMerchant;
let program: Program;
let owner: Record<string, string>;
/** The code of a member: no row can have it as its card number. */
let taken: string;

beforeAll(async () => {
  service = await startService({ worker: false });
  [worker, merchant] = await Promise.all([startTestWorker(service), aMerchant(service)]);
  program = await merchant.program();
  owner = { Authorization: `Bearer ${await merchant.token()}` };
  const holder = await merchant.call('/merchants/me/members', { body: { programId: program._id } });
  taken = holder.body.data.memberCode;
});
afterAll(async () => {
  await worker.close();
  await service.stop();
});

let people = 0;
async function aMember() {
  people += 1;
  const mark = newId()
    .slice(0, 8)
    .replace(/\d/g, (digit) => 'ghijklmnop'.charAt(Number(digit)));
  // Ten digits, and not those of a time: fewer are also found within random ids and times.
  const number = `2${String(Date.now()).slice(-6)}${String(people).padStart(3, '0')}`;
  const person = {
    firstName: `Ottokar${mark}`,
    lastName: `Van der Valk${mark}`,
    email: `ottokar.${mark}@bücher.example`,
    phone: `+49 151 ${number}`,
  };
  const { body } = await merchant.call('/merchants/me/members', { body: { programId: program._id, ...person } });
  expect(body.data.email).toBe(`ottokar.${mark}@xn--bcher-kva.example`);
  const values = [...Object.values(person), body.data.email, number];
  return { ...person, number, id: body.data.id as string, values };
}

/** A file whose other rows are new people. */
async function started(rows: Record<number, string>) {
  const run = newId();
  const lines = Array.from(
    { length: rowsOfFile },
    (_, index) => rows[index + 1] ?? `A,B,p${index}.${run}@example.com,,,`,
  );
  const { status, body } = await merchant.call(`/merchants/me/imports?programId=${program._id}`, {
    body: [header, ...lines, ''].join('\r\n'),
    headers: { 'Content-Type': 'text/csv' },
  });
  expect(status).toBe(202);
  return body.data.id as string;
}

async function decideFirstChunk(batchId: string, deps: Deps = service.deps) {
  const batch = await deps.collections.batches.findOne({ _id: batchId });
  if (!batch) throw new Error('The batch is gone.');
  await createChunks(deps, { batch, program, from: 0, count: 1 });
}

async function finish(batchId: string) {
  const input = { batchId, from: 0, shutdownSignal: never, cancellationSignal: never };
  for (let from = 0, over = false; !over; )
    ({ next: from, over } = await createImported(worker.deps, { ...input, from }));
  for (let from = 0, over = false; !over; )
    ({ next: from, over } = await publishImported(worker.deps, { ...input, from }));
  return finishImport(worker.deps, { batchId });
}

const remove = async (memberId: string) =>
  expect(
    (await merchant.call(`/merchants/me/members/${memberId}`, { method: 'DELETE', credential: owner })).status,
  ).toBe(200);
/** All runs of the erasure in its first minute: afterwards it has no values to search for. */
async function searchAndEnd(memberId: string) {
  for (let run = 0; run < 2; run += 1) await removeTraces(worker.deps, { memberId });
  await endErasure(worker.deps, { memberId });
}
const erase = async (memberId: string) => {
  await remove(memberId);
  await searchAndEnd(memberId);
};

const traces = (values: readonly string[]) =>
  findTraces({ deps: service.deps, temporal: service.client, since: begun, logs: loggedLines() }, values);
const failedRows = async (batchId: string) => {
  const { text } = await merchant.call(`/merchants/me/batches/${batchId}/errors.csv`);
  return text.trim().split('\r\n').slice(1);
};

type Person = Awaited<ReturnType<typeof aMember>>;
/** Rows that fail, in which the person is written in one way each. */
const failing: [how: string, row: (person: Person) => string][] = [
  ['the address in capitals with blanks around', ({ email }) => `Otto,V, ${email.toUpperCase()} ,,,${taken}`],
  ['the address in a formula', ({ email }) => `Otto,V,"=""${email}""",,,${taken}`],
  ['the phone number with 00', ({ number }) => `Otto,V,,0049 (0)151/${number},,${taken}`],
  ['the phone number with dots', ({ number }) => `Otto,V,,+49.151.${number},,${taken}`],
  ['both names', ({ firstName, lastName }) => `${firstName.toUpperCase()},${lastName},,,,${taken}`],
  ['the address in a row with wrong points', ({ email }) => `Otto,V,${email},,many,`],
];
const other = () => `Somebody,Else,somebody.else@example.com,0160 1234567,,${taken}`;

describe.each([
  ['that the import decides later', 250],
  ['that the import has decided', 50],
])('of an erased member, a failing row %s', (_, at) => {
  it('is emptied, however the person is written in it; the rows of others are complete', async () => {
    const person = await aMember();
    const given = failing.map(([, row], index) => [at + index, row(person)] as const);
    const batchId = await started({ ...Object.fromEntries(given), [at + 20]: other() });
    await decideFirstChunk(batchId);
    await erase(person.id);
    expect(await finish(batchId)).toMatchObject({ phase: 'completed' });
    expect(await traces(person.values)).toEqual([]);
    const failed = await failedRows(batchId);
    expect(failed.at(-1)).toBe(`${at + 20},${other()},externalId: another member of the program has it`);
    const isDecidedFirst = at < 100;
    // A known address makes a row that is about the member, which does not fail.
    const isKnown = (how: string) => isDecidedFirst && /^the address in (capitals|a formula)/.test(how);
    const expected = failing.flatMap(([how], index) => (isKnown(how) ? [] : [`${at + index}${','.repeat(7)}`]));
    expect(failed.slice(0, -1).map((line) => line.replace(/,[^,]*$/, ','))).toEqual(expected);
  });
});

it('a row that creates a new member keeps the data of the new one', async () => {
  const person = await aMember();
  const row = `New,Person,${person.email.toUpperCase()},,7,`;
  const batchId = await started({ 300: row });
  await decideFirstChunk(batchId);
  await erase(person.id);
  await finish(batchId);
  const { body } = await merchant.call(`/merchants/me/members?q=${person.email.split('@')[0]}`);
  expect(body.data.items).toMatchObject([{ firstName: 'New', balance: 7 }]);
  expect(body.data.items[0].id).not.toBe(person.id);
  const chunk = await service.deps.collections.importChunks.findOne({ batchId, chunk: 2 });
  expect(chunk?.rows.find((one) => one.row === 300)?.cells.join(',')).toBe(row);
  expect(chunk?.ofErased).toBeUndefined();
  await erase(body.data.items[0].id);
  expect(await traces([person.email, ...person.values])).toEqual([]);
});

it('the rows that a cancelled import did not reach are emptied at its end', async () => {
  const person = await aMember();
  const batchId = await started({ 200: `New,Person,${person.email},,,`, 201: other(), 349: `,,,${person.phone},,` });
  await decideFirstChunk(batchId);
  await erase(person.id);
  expect((await merchant.call(`/merchants/me/batches/${batchId}/cancel`, { method: 'POST' })).status).toBe(200);
  expect(await finish(batchId)).toMatchObject({ phase: 'cancelled' });
  expect(await traces(person.values)).toEqual([]);
  const failed = await failedRows(batchId);
  expect(failed).toHaveLength(rowsOfFile - 100);
  expect(failed[100]).toContain(`201,${other()}`);
});

it('a chunk that is being decided during the erasure is decided again', async () => {
  const person = await aMember();
  const batchId = await started({ 7: `Otto,V,,${person.phone},,${taken}` });
  const { importChunks } = service.deps.collections;
  let isErased = false;
  const meanwhile = new Proxy(importChunks, {
    get(chunks, property) {
      if (property !== 'updateOne') return Reflect.get(chunks, property);
      return async (...given: Parameters<typeof chunks.updateOne>) => {
        if (!isErased) await erase(person.id);
        isErased = true;
        return chunks.updateOne(...given);
      };
    },
  });
  const deps = { ...service.deps, collections: { ...service.deps.collections, importChunks: meanwhile } };
  await decideFirstChunk(batchId, deps);
  expect((await importChunks.findOne({ batchId, chunk: 0 }))?.outcomes).toHaveLength(100);
  expect(await traces(person.values)).toEqual([]);
});

it('the rows of an upload that never becomes an import are emptied too', async () => {
  const person = await aMember();
  const batch = await openImport(service.deps, {
    ...{ merchantId: merchant.id, programId: program._id, header: ['email'], delimiter: ',' as const },
    startedBy: { type: 'user', id: 'tester' },
  });
  const { _id: batchId } = batch;
  const rows = [{ row: 1, line: 2, cells: [person.email], person: { email: person.values[4] ?? '' } }];
  await storeChunk(service.deps, { batch, chunk: 0, rows });
  await erase(person.id);
  await queueImport(service.deps, { batchId, chunks: 1, total: 1 });
  expect(await withdrawQueued(service.deps, { batchId, reason: 'It could not be started.' })).toBe(true);
  expect(await traces(person.values)).toEqual([]);
});

it('an import that begins after the removal keeps the failed rows of namesakes', async () => {
  const person = await aMember();
  await remove(person.id);
  const row = `${person.firstName},${person.lastName},,,,${taken}`;
  const batchId = await started({ 2: row, 3: `${person.firstName},${person.lastName},,,many,` });
  await removeTraces(worker.deps, { memberId: person.id });
  await finish(batchId);
  await searchAndEnd(person.id);
  expect(await failedRows(batchId)).toEqual([
    expect.stringContaining(`2,${row}`),
    expect.stringContaining(`3,${person.firstName},${person.lastName},,,many,`),
  ]);
  await service.deps.collections.importChunks.updateOne(
    { batchId, chunk: 0 },
    { $set: { rows: [] as ImportChunkRow['rows'] } },
  );
  expect(await traces(person.values)).toEqual([]);
});
