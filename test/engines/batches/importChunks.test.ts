// The chunks of imports on a real database: two chunks are written at the same time, with the same result as one after
// the other.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChunks } from '../../../activities/batches/imports/createChunks.writes.js';
import { createImported } from '../../../activities/batches/imports/createImported.activity.js';
import { finishImport } from '../../../activities/batches/imports/finishImport.activity.js';
import { openImport, queueImport, storeChunk } from '../../../activities/batches/imports/openImport.effect.js';
import { publishImported } from '../../../activities/batches/imports/publishImported.activity.js';
import { emailKey } from '../../../activities/members/newMember.rules.js';
import type { Deps } from '../../../platform/deps.js';
import { removeAll } from '../../../platform/mongodb/updateMany.js';
import type { BatchRow, ImportRowOutcome } from '../../../schemas/batches/batches.rows.js';
import type { EmailRow } from '../../../schemas/members/members.rows.js';
import type { Program } from '../../../schemas/programs/programs.schema.js';
import { newId } from '../../../schemas/shared/ids.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';
import { startTestWorker } from '../../rig/start/testWorker.js';

let service: TestService;
let deps: Deps;
let merchant: TestMerchant;
let program: Program;

beforeAll(async () => {
  service = await startService({ worker: false });
  deps = service.deps;
  merchant = await aMerchant(service);
  program = await merchant.program();
});

afterAll(() => service.stop());

/** A queued import whose chunks contain people with these emails, or without one. */
async function queued(...chunks: (string | undefined)[][]): Promise<BatchRow> {
  const { _id: batchId } = await openImport(deps, {
    merchantId: merchant.id,
    programId: program._id,
    header: ['email'],
    delimiter: ',',
    startedBy: { type: 'user', id: 'tester' },
  });
  const batch = { _id: batchId, merchantId: merchant.id } as BatchRow;
  let row = 0;
  for (const [chunk, emails] of chunks.entries()) {
    const rows = emails.map((email) => {
      row += 1;
      return { row, line: row + 1, cells: [email ?? ''], person: email === undefined ? {} : { email } };
    });
    await storeChunk(deps, { batch, chunk, rows });
  }
  await queueImport(deps, { batchId, chunks: chunks.length, total: row });
  const found = await deps.collections.batches.findOne({ _id: batchId });
  if (!found) throw new Error('The batch is gone.');
  return found;
}

const address = (name: string) => `${name}.${newId()}@example.com`;

async function outcomesOf({ _id }: BatchRow): Promise<ImportRowOutcome[]> {
  const rows = await deps.collections.importChunks.find({ batchId: _id }).sort({ chunk: 1 }).toArray();
  return rows.flatMap(({ outcomes = [] }) => outcomes);
}

const membersOf = (emails: string[]) =>
  deps.collections.members
    .find({ merchantId: merchant.id, email: { $in: emails } })
    .map(({ _id }) => _id)
    .toArray();

/** Dependencies that run `happens` before emails are inserted. */
function before(happens: (emails: readonly EmailRow[]) => Promise<unknown> | undefined): Deps {
  const rows = {
    ...deps.collections,
    emails: new Proxy(deps.collections.emails, {
      get(emails, property) {
        if (property !== 'insertMany') return Reflect.get(emails, property);
        return async (...given: Parameters<typeof emails.insertMany>) => {
          await happens(given[0] as EmailRow[]);
          return emails.insertMany(...given);
        };
      },
    }),
  };
  return { ...deps, collections: rows };
}

/** Dependencies under which another enrollment takes `email` while the first chunk is written. */
function takenInBetween(email: string): { deps: Deps; memberId: string } {
  const memberId = newId();
  const row = { _id: emailKey(program._id, email), merchantId: merchant.id, memberId, memberCode: 'OUTSIDER00' };
  let written: Promise<unknown> | undefined;
  const taken = before(() => {
    written ??= deps.collections.emails.insertOne(row);
    return written;
  });
  return { deps: taken, memberId };
}

const unwritable = (email: string, error: Error): Deps =>
  before((emails) =>
    emails.some(({ _id }) => _id === emailKey(program._id, email)) ? Promise.reject(error) : undefined,
  );

const create = (batch: BatchRow, { from = 0, count = batch.chunks ?? 0, by = deps } = {}) =>
  createChunks(by, { batch, program, from, count });

const countsOf = async ({ _id }: BatchRow) => {
  const batch = await deps.collections.batches.findOne({ _id });
  return { ...batch?.counts, done: batch?.done };
};

describe('the chunks of an import', () => {
  it.each([3, 2, 1])('count as one file, %i at a time: of two rows with one email the first wins', async (count) => {
    const [ada, bob, eve] = [address('ada'), address('bob'), address('eve')];
    const batch = await queued([ada, bob], [bob, eve], [ada, eve]);
    let created = 0;
    for (let from = 0; from < 3; from += count)
      created += await create(batch, { from, count: Math.min(count, 3 - from) });
    expect(created).toBe(3);
    const [first, second, third, fourth, fifth, sixth] = await outcomesOf(batch);
    expect([first, second, fourth].map((row) => row?.outcome)).toEqual(['created', 'created', 'created']);
    expect(third).toEqual({ row: 3, outcome: 'deduped', memberId: second?.memberId, memberCode: second?.memberCode });
    expect(fifth).toEqual({ row: 5, outcome: 'deduped', memberId: first?.memberId, memberCode: first?.memberCode });
    expect(sixth).toEqual({ row: 6, outcome: 'deduped', memberId: fourth?.memberId, memberCode: fourth?.memberCode });
    expect(await membersOf([ada, bob, eve])).toHaveLength(3);
    expect(await countsOf(batch)).toEqual({ total: 6, created: 3, deduped: 3, failed: 0, done: 6 });
  });

  it('are decided again when an earlier chunk was not written as planned', async () => {
    const taken = address('taken');
    const free = address('free');
    const batch = await queued([taken, free], [taken, free]);
    const between = takenInBetween(taken);
    expect(await create(batch, { by: between.deps })).toBe(1);
    const outcomes = await outcomesOf(batch);
    expect(outcomes.map((row) => row.outcome)).toEqual(['deduped', 'created', 'deduped', 'deduped']);
    const [freeId] = await membersOf([free]);
    expect(outcomes.map((row) => row.memberId)).toEqual([between.memberId, freeId, between.memberId, freeId]);
    expect(await countsOf(batch)).toMatchObject({ created: 1, deduped: 3, done: 4 });
  });

  it('that another run of the activity has written keep their outcomes', async () => {
    const batch = await queued([address('one')], [undefined], [address('three')]);
    expect(await create(batch, { count: 2 })).toBe(2);
    const before = await outcomesOf(batch);
    expect(await create(batch)).toBe(1);
    expect((await outcomesOf(batch)).slice(0, 2)).toEqual(before);
    expect(await create(batch)).toBe(0);
    expect(await countsOf(batch)).toMatchObject({ created: 3, done: 3 });
  });

  it('get one outcome from two concurrent runs of the activity', async () => {
    const emails = Array.from({ length: 12 }, (_, index) => address(`both-${index}`));
    const batch = await queued(...emails.map((email) => [email]));
    const [one, other] = await Promise.all([create(batch), create(batch)]);
    expect(one + other).toBe(12);
    expect(await membersOf(emails)).toHaveLength(12);
    const memberIds = (await outcomesOf(batch)).map((row) => row.memberId);
    expect(await deps.collections.members.countDocuments({ _id: { $in: memberIds } as never })).toBe(12);
    expect(await countsOf(batch)).toMatchObject({ created: 12, done: 12 });
  });

  it('are created in order: no chunk after a failed one is created', async () => {
    const emails = [address('first'), address('unlucky'), address('third'), address('fourth')];
    const batch = await queued(...emails.map((email) => [email]));
    const refused = new Error('the disk is full');
    const by = unwritable(emails[1] ?? '', refused);
    await expect(create(batch, { by })).rejects.toBe(refused);
    expect((await outcomesOf(batch)).map((row) => row.row)).toEqual([1]);
    expect(await membersOf(emails)).toHaveLength(1);
    expect(await create(batch)).toBe(3);
    expect(await countsOf(batch)).toMatchObject({ created: 4, done: 4 });
  });

  it('of an import that ended meanwhile create nothing and keep its counts', async () => {
    const emails = [address('late')];
    const batch = await queued(emails);
    await deps.collections.batches.updateOne({ _id: batch._id }, { $set: { phase: 'cancelled', 'counts.failed': 1 } });
    await expect(create(batch)).rejects.toThrow('has ended meanwhile');
    expect(await membersOf(emails)).toEqual([]);
    expect(await countsOf(batch)).toMatchObject({ created: 0, failed: 1, done: 0 });
  });

  it('give the same result as row by row, for any emails and any number of chunks at a time', async () => {
    const names = fc.option(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { nil: undefined });
    const file = fc.array(fc.array(names, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(file, fc.integer({ min: 1, max: 6 }), async (chunks, count) => {
        const run = newId();
        const batch = await queued(...chunks.map((chunk) => chunk.map((name) => name && `${name}.${run}@example.com`)));
        for (let from = 0; from < chunks.length; from += count)
          await create(batch, { from, count: Math.min(count, chunks.length - from) });
        const seen = new Set<string>();
        const expected = chunks.flat().map((name) => {
          if (name === undefined) return 'created';
          const outcome = seen.has(name) ? 'deduped' : 'created';
          seen.add(name);
          return outcome;
        });
        const outcomes = await outcomesOf(batch);
        expect(outcomes.map((row) => row.outcome)).toEqual(expected);
        const memberIds = outcomes.flatMap((row) => (row.outcome === 'created' ? (row.memberId ?? []) : []));
        expect(await deps.collections.members.countDocuments({ _id: { $in: memberIds } })).toBe(memberIds.length);
        expect(await countsOf(batch)).toMatchObject({ created: memberIds.length, done: expected.length });
      }),
      { numRuns: 20 },
    );
  });
});

const never = new AbortController().signal;

describe('an import that is cancelled', () => {
  it('reports the created members after a worker died before the batch was updated, also after a reset', async () => {
    const worker = await startTestWorker(service);
    const emails = Array.from({ length: 6 }, (_, index) => address(`cut-${index}`));
    const batch = await queued(...emails.map((email) => [email]));
    await create(batch, { count: 2 });
    const by = unwritable(emails[4] ?? '', new Error('the disk is full'));
    await expect(create(batch, { from: 2, count: 4, by })).rejects.toThrow('the disk is full');
    expect(await countsOf(batch)).toMatchObject({ created: 2, done: 2 });
    await deps.collections.batches.updateOne({ _id: batch._id }, { $set: { cancelRequestedAt: new Date() } });
    const input = { batchId: batch._id, from: 0, shutdownSignal: never, cancellationSignal: never };
    expect(await createImported(worker.deps, input)).toMatchObject({ over: true });
    expect(await publishImported(worker.deps, input)).toMatchObject({ over: true, completedMembers: 4 });
    expect(await finishImport(worker.deps, { batchId: batch._id })).toMatchObject({ phase: 'cancelled' });
    const counts = { total: 6, created: 4, deduped: 0, failed: 2, done: 4 };
    expect(await countsOf(batch)).toEqual(counts);
    await removeAll(deps, 'importChunks', { batchId: batch._id });
    expect(await finishImport(worker.deps, { batchId: batch._id })).toMatchObject({ phase: 'cancelled' });
    expect(await countsOf(batch)).toEqual(counts);
    await worker.close();
  });
});
