// Chunk after chunk on a real database: the next one is decided while one is written, and that must never show.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Courtesy } from '../../activities/courtesy.js';
import type { Store } from '../../activities/deps.js';
import { carryImported } from '../../activities/imports/carryImported.js';
import { chunkCreator } from '../../activities/imports/createChunk.js';
import { createImported } from '../../activities/imports/createImported.js';
import { openImport, queueImport, storeChunk } from '../../activities/imports/openImport.js';
import { emailKey } from '../../activities/newMember.js';
import type { BatchRow, ImportRowOutcome } from '../../schemas/collections.js';
import { newId } from '../../schemas/ids.js';
import type { Program } from '../../schemas/programs.js';
import { startEffects } from '../rig/effects.js';
import { aMerchant, type TestMerchant } from '../rig/merchant.js';
import { startService, type TestService } from '../rig/service.js';

let service: TestService;
let store: Store;
let merchant: TestMerchant;
let program: Program;

beforeAll(async () => {
  service = await startService({ worker: false });
  store = service.store;
  merchant = await aMerchant(service);
  program = await merchant.program();
});

afterAll(() => service.stop());

/** A queued import whose chunks hold people with these emails, or without one. */
async function queued(...chunks: (string | undefined)[][]): Promise<BatchRow> {
  const { _id: batchId } = await openImport(store, {
    merchantId: merchant.id,
    programId: program._id,
    header: ['email'],
    startedBy: { type: 'user', id: 'tester' },
    dryRun: false,
  });
  const batch = { _id: batchId, merchantId: merchant.id } as BatchRow;
  let row = 0;
  for (const [chunk, emails] of chunks.entries()) {
    const rows = emails.map((email) => {
      row += 1;
      return { row, cells: [email ?? ''], person: email === undefined ? {} : { email } };
    });
    await storeChunk(store, { batch, chunk, rows });
  }
  await queueImport(store, { batchId, chunks: chunks.length, total: row });
  const found = await store.rows.batches.findOne({ _id: batchId });
  if (!found) throw new Error('The batch is gone.');
  return found;
}

const address = (name: string) => `${name}.${newId()}@example.com`;

async function outcomesOf({ _id }: BatchRow): Promise<ImportRowOutcome[]> {
  const rows = await store.rows.batchRows.find({ batchId: _id }).sort({ chunk: 1 }).toArray();
  return rows.flatMap(({ outcomes = [] }) => outcomes);
}

const membersOf = (emails: string[]) =>
  store.rows.members
    .find({ merchantId: merchant.id, email: { $in: emails } })
    .map(({ _id }) => _id)
    .toArray();

/** As if somebody enrolled `email` in the middle of the first chunk that is written. */
function takenInBetween(email: string): { store: Store; memberId: string } {
  const memberId = newId();
  let written: Promise<unknown> | undefined;
  const rows = {
    ...store.rows,
    emails: new Proxy(store.rows.emails, {
      get(emails, property) {
        if (property !== 'insertMany') return Reflect.get(emails, property);
        return async (...given: Parameters<typeof emails.insertMany>) => {
          written ??= emails.insertOne({
            _id: emailKey(program._id, email),
            merchantId: merchant.id,
            memberId,
            memberCode: 'OUTSIDER00',
          });
          await written;
          return emails.insertMany(...given);
        };
      },
    }),
  };
  return { store: { ...store, rows }, memberId };
}

describe('the chunks of an import', () => {
  it('count as one file: of two rows with one email in two chunks the first wins', async () => {
    const [ada, bob, eve] = [address('ada'), address('bob'), address('eve')];
    const batch = await queued([ada, bob], [bob, eve], [ada, eve]);
    const createChunk = chunkCreator(store);
    const created = [];
    for (const chunk of [0, 1, 2]) created.push(await createChunk({ batch, program, chunk }));
    expect(created).toEqual([2, 1, 0]);
    const [first, second, third, fourth, fifth, sixth] = await outcomesOf(batch);
    expect([first, second, fourth].map((row) => row?.outcome)).toEqual(['created', 'created', 'created']);
    expect(third).toEqual({ row: 3, outcome: 'deduped', memberId: second?.memberId, memberCode: second?.memberCode });
    expect(fifth).toEqual({ row: 5, outcome: 'deduped', memberId: first?.memberId, memberCode: first?.memberCode });
    expect(sixth).toEqual({ row: 6, outcome: 'deduped', memberId: fourth?.memberId, memberCode: fourth?.memberCode });
    expect(await membersOf([ada, bob, eve])).toHaveLength(3);
  });

  it('are decided again when what they were built on did not happen', async () => {
    const taken = address('taken');
    const free = address('free');
    const batch = await queued([taken, free], [taken, free]);
    const between = takenInBetween(taken);
    const createChunk = chunkCreator(between.store);
    expect(await createChunk({ batch, program, chunk: 0 })).toBe(1);
    expect(await createChunk({ batch, program, chunk: 1 })).toBe(0);
    const outcomes = await outcomesOf(batch);
    expect(outcomes.map((row) => row.outcome)).toEqual(['deduped', 'created', 'deduped', 'deduped']);
    const [freeId] = await membersOf([free]);
    expect(outcomes.map((row) => row.memberId)).toEqual([between.memberId, freeId, between.memberId, freeId]);
  });

  it('that another attempt has written meanwhile keep its outcome', async () => {
    const batch = await queued([address('one')], [undefined], [address('three')]);
    const [slow, quick] = [chunkCreator(store), chunkCreator(store)];
    expect(await slow({ batch, program, chunk: 0 })).toBe(1);
    for (const chunk of [0, 1, 2]) expect(await quick({ batch, program, chunk })).toBe(chunk === 0 ? 0 : 1);
    const before = await outcomesOf(batch);
    for (const chunk of [1, 2]) expect(await slow({ batch, program, chunk })).toBe(0);
    expect(await outcomesOf(batch)).toEqual(before);
    const memberIds = before.flatMap((row) => row.memberId ?? []);
    expect(await store.rows.members.countDocuments({ _id: { $in: memberIds } })).toBe(3);
    expect(await store.rows.members.countDocuments({ merchantId: merchant.id, email: { $exists: false } })).toBe(1);
    expect((await store.rows.batches.findOne({ _id: batch._id }))?.counts.created).toBe(3);
  });
});

describe('an import beside gestures', () => {
  it('works in pieces that can rest', async () => {
    const effects = await startEffects(service);
    let pieces = 0;
    const courtesy: Courtesy = {
      bulk(work) {
        pieces += 1;
        return work();
      },
    };
    const deps = { ...effects.deps, courtesy };
    const batch = await queued([address('first')], [address('second')]);
    const never = new AbortController().signal;
    const input = { batchId: batch._id, from: 0, stopping: never, callOff: never };
    expect(await createImported(deps, input)).toMatchObject({ over: true, created: 2 });
    expect(pieces).toBe(2);
    expect(await carryImported(deps, input)).toMatchObject({ over: true, carried: 2 });
    expect(pieces).toBe(4);
    await effects.close();
  });
});
