// Creates the members of several chunks of an import. Each chunk is one transaction that also stores the outcomes of
// its rows, so each row has one outcome and its member is created once, however often and on however many workers the
// chunk is run. Two transactions run at a time, which keeps both the worker and the database busy. They are committed
// in the order of the file, so no chunk is created after one that failed, and of two rows with the same email or
// external id the first wins (docs/decisions/imports-commit-in-order.md).
import type { ClientSession } from 'mongodb';
import pLimit from 'p-limit';
import type { Deps } from '../../../platform/deps.js';
import { VersionConflict } from '../../../platform/mongodb/conflicts.js';
import { inTransaction } from '../../../platform/mongodb/inTransaction.js';
import { retryOnConflict } from '../../../platform/mongodb/retryOnConflict.js';
import type { BatchRow, ImportChunkRow, ImportRow, ImportRowOutcome } from '../../../schemas/batches/batches.rows.js';
import type { Program } from '../../../schemas/programs/programs.schema.js';
import { createdEventId } from '../../../schemas/shared/ids.js';
import { unfinishedPhases } from '../../access/batchRoom.writes.js';
import { newMemberCodes } from '../../members/memberCodes.reads.js';
import { type NewMemberRows, newMemberRows } from '../../members/newMember.rules.js';
import { decideRow, type StoredPeople, storedPeople } from './decideRow.rules.js';
import { emptyingErased } from './erasedRows.writes.js';
import { chunkId } from './openImport.effect.js';

export interface CreateChunks {
  batch: BatchRow;
  program: Program;
  /** Number of the first chunk. All chunks before it must have been created. */
  from: number;
  count: number;
}

type CumulativeCounts = NonNullable<ImportChunkRow['cumulative']>;

interface ChunkPlan {
  row: ImportChunkRow;
  outcomes: ImportRowOutcome[];
  made: NewMemberRows[];
  cumulative: CumulativeCounts;
  /** Undefined where an older version of the service created the rows before. */
  withEmail: number | undefined;
}

const transactionConcurrency = 2;

/** Returns how many members this call created. Chunks that have outcomes already are not changed. */
export async function createChunks(deps: Deps, input: CreateChunks): Promise<number> {
  let created = 0;
  await retryOnConflict(deps, () =>
    createMissingChunks(deps, input, ({ made, outcomes }) => {
      created += made.length;
      for (const [outcome, rows] of Object.entries(addOutcomes(noCounts, outcomes)))
        deps.metrics.importRows(outcome, rows);
    }),
  );
  return created;
}

async function createMissingChunks(
  deps: Deps,
  { batch, program, from, count }: CreateChunks,
  committed: (plan: ChunkPlan) => void,
): Promise<void> {
  const batchId = batch._id;
  const [before, ...rows] = await Promise.all([
    countsBefore(deps, { batchId, chunk: from }),
    ...Array.from({ length: count }, (_, index) => readChunk(deps, { batchId, chunk: from + index })),
  ]);
  let { cumulative, withEmail } = before;
  const open: ImportChunkRow[] = [];
  for (const row of rows) {
    if (row.cumulative) ({ cumulative, withEmail } = countsUpTo(row));
    else open.push(row);
  }
  const entries = open.flatMap((row) => row.rows);
  const [known, codes] = await Promise.all([
    storedPeople(deps, { program, rows: entries }),
    newMemberCodes(deps, {
      merchantId: program.merchantId,
      count: entries.length,
      except: entries.flatMap(({ person }) => person?.externalId ?? []),
    }),
  ]);
  const limit = pLimit(transactionConcurrency);
  const written: Promise<void>[] = [];
  for (const row of open) {
    const earlier = written.at(-1);
    const writing = limit(async () => {
      const plan = planChunk(deps, { batch, program, row, known, codes, cumulative, withEmail });
      ({ cumulative, withEmail } = plan);
      await inTransaction(deps, async (session) => {
        await write(deps, plan, session);
        // Only the last chunk updates the batch's counts: transactions that write the same row would conflict.
        if (row === open.at(-1)) await updateBatchCounts(deps, { batchId, cumulative: plan.cumulative }, session);
        await earlier;
      });
      committed(plan);
    });
    // Prevents an unhandled rejection; the error is thrown below, after all transactions have ended.
    writing.catch(() => {});
    written.push(writing);
  }
  const ended = await Promise.allSettled(written);
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
}

export async function readChunk(
  deps: Deps,
  { batchId, chunk }: { batchId: string; chunk: number },
): Promise<ImportChunkRow> {
  const row = await deps.collections.importChunks.findOne({ _id: chunkId(batchId, chunk) });
  if (!row) throw new Error(`Chunk ${chunk} of batch ${batchId} is gone.`);
  return row;
}

const noCounts: CumulativeCounts = { created: 0, deduped: 0, failed: 0 };

function addOutcomes(cumulative: CumulativeCounts, outcomes: readonly ImportRowOutcome[]): CumulativeCounts {
  const sum = { ...cumulative };
  for (const { outcome } of outcomes) sum[outcome] += 1;
  return sum;
}

/** Of all rows up to the end of a chunk. */
type CountsUpTo = Pick<ChunkPlan, 'cumulative' | 'withEmail'>;

const countsUpTo = ({ cumulative, cumulativeWithEmail }: Partial<ImportChunkRow>): CountsUpTo =>
  cumulative ? { cumulative, withEmail: cumulativeWithEmail } : { cumulative: noCounts, withEmail: 0 };

/** The counts of all chunks before `chunk`; zeros where the one before it was not created. */
async function countsBefore(deps: Deps, { batchId, chunk }: { batchId: string; chunk: number }): Promise<CountsUpTo> {
  return countsUpTo(chunk === 0 ? {} : await readChunk(deps, { batchId, chunk: chunk - 1 }));
}

/** The counts of all created chunks. It reads the chunks, because the counts of the batch may lack the last ones. */
export async function countsOfCreated(deps: Deps, { batchId }: { batchId: string }): Promise<CountsUpTo> {
  const created = deps.collections.importChunks.find(
    { batchId, outcomes: { $exists: true } },
    { projection: { cumulative: 1, cumulativeWithEmail: 1 } },
  );
  const [last] = await created.sort({ chunk: -1 }).limit(1).toArray();
  return countsUpTo(last ?? {});
}

interface PlanChunk {
  batch: BatchRow;
  program: Program;
  row: ImportChunkRow;
  /** Created members are added, so that of two rows with the same email or external id the first wins. */
  known: StoredPeople;
  /** One code for each row at least; codes that are given to members are removed. */
  codes: string[];
  cumulative: CumulativeCounts;
  withEmail: number | undefined;
}

function planChunk(deps: Deps, { batch, program, row, known, codes, cumulative, withEmail }: PlanChunk): ChunkPlan {
  const made: NewMemberRows[] = [];
  const people = {
    ownerOf: (email: string) => known.owners.get(email),
    holderOf: (externalId: string) => known.holders.get(externalId),
    isTaken: (externalId: string) => known.taken.has(externalId),
  };
  const create = (entry: ImportRow): ImportRowOutcome => {
    const { row: number } = entry;
    const decision = decideRow(entry, people);
    if (decision.outcome === 'failed') return { row: number, ...decision };
    if (decision.outcome === 'deduped') {
      const { memberId, memberCode } = decision.owner;
      return { row: number, outcome: 'deduped', memberId, memberCode };
    }
    const code = codes.pop();
    const rows = newMemberRows(deps, {
      ...(code !== undefined && { memberCode: code }),
      program,
      person: decision.person,
      source: 'import',
      attribution: {},
      actor: { type: 'import', id: batch._id },
      quiet: batch.quiet,
    });
    made.push(rows);
    const { _id: memberId, memberCode, email } = rows.member;
    const owner = { memberId, memberCode };
    if (email !== undefined) known.owners.set(email, owner);
    if (rows.externalId) known.holders.set(rows.externalId.externalId, owner);
    return { row: number, outcome: 'created', memberId, memberCode, eventId: createdEventId(memberId) };
  };
  const outcomes = row.rows.map(create);
  const emails = made.filter(({ email }) => email !== null).length;
  const counts = {
    cumulative: addOutcomes(cumulative, outcomes),
    withEmail: withEmail === undefined ? undefined : withEmail + emails,
  };
  return { row, outcomes, made, ...counts };
}

async function write(
  deps: Deps,
  { row, outcomes, made, cumulative, withEmail }: ChunkPlan,
  session: ClientSession,
): Promise<void> {
  const { members, emails, externalIds, memberSearchWords, ledger, importChunks } = deps.collections;
  const ledgerRows = made.flatMap((rows) => rows.ledger ?? []);
  const searchWords = made.flatMap((rows) => rows.searchWordRows);
  const emailRows = made.flatMap((rows) => rows.email ?? []);
  const externalIdRows = made.flatMap((rows) => rows.externalId ?? []);
  const { _id, ofErased = { $exists: false } } = row;
  const { $set, $unset } = emptyingErased({ ...row, outcomes });
  const writtenNow = await importChunks.updateOne(
    { _id, outcomes: { $exists: false }, ofErased },
    {
      $set: { outcomes, cumulative, ...(withEmail !== undefined && { cumulativeWithEmail: withEmail }), ...$set },
      $unset,
    },
    { session },
  );
  if (writtenNow.matchedCount !== 1)
    throw new VersionConflict('Another attempt wrote these rows, or a member was erased.');
  const newMembers = made.map((rows) => rows.member);
  if (newMembers.length > 0) await members.insertMany(newMembers, { session });
  deps.crashPoint('mid-chunk');
  if (emailRows.length > 0) await emails.insertMany(emailRows, { session });
  if (externalIdRows.length > 0) await externalIds.insertMany(externalIdRows, { session });
  if (searchWords.length > 0) await memberSearchWords.insertMany(searchWords, { session });
  if (ledgerRows.length > 0) await ledger.insertMany(ledgerRows, { session });
}

async function updateBatchCounts(
  deps: Deps,
  { batchId, cumulative }: { batchId: string; cumulative: CumulativeCounts },
  session: ClientSession,
): Promise<void> {
  const going = { _id: batchId, phase: { $in: unfinishedPhases } };
  const counted = await deps.collections.batches.updateOne(going, { $set: batchCountFields(cumulative) }, { session });
  if (counted.matchedCount !== 1) throw new Error(`Batch ${batchId} has ended meanwhile.`);
}

/** The counts as fields of the batch's row. */
export const batchCountFields = ({ created, deduped, failed }: CumulativeCounts) => ({
  done: created + deduped + failed,
  'counts.created': created,
  'counts.deduped': deduped,
  'counts.failed': failed,
});
