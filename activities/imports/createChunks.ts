// The members of some chunks of an import, each chunk in one transaction with what became of its rows: however often a chunk is
// run, by however many workers, its rows have one outcome and its members are created once. Two transactions are under way
// at a time, which keeps worker and database at work together, and they are committed in the order of the file: behind a
// chunk that was not created none is, and of two rows with one email the first wins.
import type { ClientSession } from 'mongodb';
import pLimit from 'p-limit';
import type { BatchChunkRow, BatchRow, EmailRow, ImportRow, ImportRowOutcome } from '../../schemas/collections.js';
import { newId } from '../../schemas/ids.js';
import type { Program } from '../../schemas/programs.js';
import type { Store } from '../deps.js';
import { emailKey, type NewMemberRows, newMemberRows } from '../newMember.js';
import { decideAgain, inTransaction, StaleRead } from '../transact.js';
import { chunkId } from './openImport.js';

export interface CreateChunks {
  batch: BatchRow;
  program: Program;
  /** The first chunk; to be called with those before it created. */
  from: number;
  count: number;
}

type SoFar = NonNullable<BatchChunkRow['soFar']>;

interface Decided {
  row: BatchChunkRow;
  outcomes: ImportRowOutcome[];
  made: NewMemberRows[];
  soFar: SoFar;
}

const atOnce = 2;

/** Answers how many members this call created; chunks that have their outcomes stay as they are. */
export async function createChunks(store: Store, input: CreateChunks): Promise<number> {
  let created = 0;
  await decideAgain(store, () =>
    attempt(store, input, ({ made, outcomes }) => {
      created += made.length;
      for (const [outcome, rows] of Object.entries(add(nothing, outcomes))) store.metrics.importRows(outcome, rows);
    }),
  );
  return created;
}

async function attempt(
  store: Store,
  { batch, program, from, count }: CreateChunks,
  committed: (decided: Decided) => void,
): Promise<void> {
  const batchId = batch._id;
  const [before, ...rows] = await Promise.all([
    soFarBefore(store, { batchId, chunk: from }),
    ...Array.from({ length: count }, (_, index) => readChunk(store, { batchId, chunk: from + index })),
  ]);
  let soFar = before;
  const open: BatchChunkRow[] = [];
  for (const row of rows) {
    if (row.outcomes) soFar = row.soFar ?? add(soFar, row.outcomes);
    else open.push(row);
  }
  const known = await knownEmails(store, { program, rows: open });
  const inSlot = pLimit(atOnce);
  const written: Promise<void>[] = [];
  for (const row of open) {
    const earlier = written.at(-1);
    const writing = inSlot(async () => {
      const decided = decide(store, { batch, program, row, known, soFar });
      soFar = decided.soFar;
      await inTransaction(store, async (session) => {
        await write(store, decided, session);
        // By the last of them alone: all would write to one row.
        if (row === open.at(-1)) await tell(store, { batchId, soFar: decided.soFar }, session);
        await earlier;
      });
      committed(decided);
    });
    // Heard of below, once none is under way.
    writing.catch(() => {});
    written.push(writing);
  }
  const ended = await Promise.allSettled(written);
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
}

export async function readChunk(
  store: Store,
  { batchId, chunk }: { batchId: string; chunk: number },
): Promise<BatchChunkRow> {
  const row = await store.rows.batchRows.findOne({ _id: chunkId(batchId, chunk) });
  if (!row) throw new Error(`Chunk ${chunk} of batch ${batchId} is gone.`);
  return row;
}

const nothing: SoFar = { created: 0, deduped: 0, failed: 0 };

function add(soFar: SoFar, outcomes: readonly ImportRowOutcome[]): SoFar {
  const sum = { ...soFar };
  for (const { outcome } of outcomes) sum[outcome] += 1;
  return sum;
}

/** A chunk that an earlier release created says nothing of those before it. */
async function soFarBefore(store: Store, { batchId, chunk }: { batchId: string; chunk: number }): Promise<SoFar> {
  if (chunk === 0) return nothing;
  const before = { batchId, chunk: chunk - 1 };
  const { soFar, outcomes = [] } = await readChunk(store, before);
  return soFar ?? add(await soFarBefore(store, before), outcomes);
}

/** By the chunks themselves: of the last ones that were created the batch may not have heard yet. */
export async function createdSoFar(store: Store, { batchId }: { batchId: string }): Promise<SoFar> {
  const created = store.rows.batchRows.find({ batchId, outcomes: { $exists: true } }, { projection: { chunk: 1 } });
  const [last] = await created.sort({ chunk: -1 }).limit(1).toArray();
  return last ? soFarBefore(store, { batchId, chunk: last.chunk + 1 }) : nothing;
}

async function knownEmails(
  store: Store,
  { program, rows }: { program: Program; rows: BatchChunkRow[] },
): Promise<Map<string, EmailRow>> {
  const people = rows.flatMap((row) => row.rows.flatMap(({ person }) => person?.email ?? []));
  if (people.length === 0) return new Map();
  const keys = people.map((email) => emailKey(program._id, email));
  const taken = await store.rows.emails.find({ _id: { $in: keys }, merchantId: program.merchantId }).toArray();
  return new Map(taken.map((email) => [email._id, email]));
}

interface Decide {
  batch: BatchRow;
  program: Program;
  row: BatchChunkRow;
  /** By email key; grows with the rows, so that the first of two equal emails wins. */
  known: Map<string, EmailRow>;
  soFar: SoFar;
}

function decide(store: Store, { batch, program, row, known, soFar }: Decide): Decided {
  const made: NewMemberRows[] = [];
  const create = (entry: ImportRow): ImportRowOutcome => {
    const { row: number, person, reason = '' } = entry;
    if (!person) return { row: number, outcome: 'failed', reason };
    const twin = person.email ? known.get(emailKey(program._id, person.email)) : undefined;
    if (twin) return { row: number, outcome: 'deduped', memberId: twin.memberId, memberCode: twin.memberCode };
    if (batch.dryRun) return { row: number, outcome: entry.repeats ? 'deduped' : 'created' };
    const rows = newMemberRows(store, {
      program,
      person,
      source: 'import',
      attribution: {},
      actor: { type: 'import', id: batch._id },
    });
    made.push(rows);
    const { _id: memberId, memberCode } = rows.member;
    if (rows.email) known.set(rows.email._id, rows.email);
    return { row: number, outcome: 'created', memberId, memberCode, eventId: newId() };
  };
  const outcomes = row.rows.map(create);
  return { row, outcomes, made, soFar: add(soFar, outcomes) };
}

async function write(store: Store, { row, outcomes, made, soFar }: Decided, session: ClientSession): Promise<void> {
  const { members, emails, memberTokens, transactions, batchRows } = store.rows;
  const ledger = made.flatMap((rows) => rows.ledger ?? []);
  const tokens = made.flatMap((rows) => rows.tokens);
  const addresses = made.flatMap((rows) => rows.email ?? []);
  const open = { _id: row._id, outcomes: { $exists: false } };
  const decidedNow = await batchRows.updateOne(open, { $set: { outcomes, soFar } }, { session });
  if (decidedNow.matchedCount !== 1) throw new StaleRead('Another attempt decided these rows.');
  const newMembers = made.map((rows) => rows.member);
  if (newMembers.length > 0) await members.insertMany(newMembers, { session });
  store.crashPoint('mid-chunk');
  if (addresses.length > 0) await emails.insertMany(addresses, { session });
  if (tokens.length > 0) await memberTokens.insertMany(tokens, { session });
  if (ledger.length > 0) await transactions.insertMany(ledger, { session });
}

/** How far the batch is. */
async function tell(
  store: Store,
  { batchId, soFar }: { batchId: string; soFar: SoFar },
  session: ClientSession,
): Promise<void> {
  await store.rows.batches.updateOne({ _id: batchId }, { $set: countsIn(soFar) }, { session });
}

/** As the fields of its batch. */
export const countsIn = ({ created, deduped, failed }: SoFar) => ({
  done: created + deduped + failed,
  'counts.created': created,
  'counts.deduped': deduped,
  'counts.failed': failed,
});
