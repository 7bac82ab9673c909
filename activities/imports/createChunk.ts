// The members of one chunk of an import, in one transaction with what became of each row: however often a chunk is run, by
// however many workers, its rows have one outcome and its members are created once. While a chunk is written the next one is
// decided, which keeps worker and database at work together; where both have one email, the second is decided again.
import type { BatchChunkRow, BatchRow, EmailRow, ImportRow, ImportRowOutcome } from '../../schemas/collections.js';
import { newId } from '../../schemas/ids.js';
import type { Program } from '../../schemas/programs.js';
import type { Store } from '../deps.js';
import { emailKey, type NewMemberRows, newMemberRows } from '../newMember.js';
import { decideAgain, inTransaction, StaleRead } from '../transact.js';
import { chunkId } from './openImport.js';

export interface CreateChunk {
  batch: BatchRow;
  program: Program;
  chunk: number;
}

interface Decided {
  row: BatchChunkRow;
  outcomes: ImportRowOutcome[];
  made: NewMemberRows[];
}

/** To be called with chunks in their order. Answers how many members a call created; 0 for a chunk that had its outcome. */
export function chunkCreator(store: Store): (input: CreateChunk) => Promise<number> {
  let ahead: { chunk: number; decided: Promise<Decided | null> } | undefined;

  const decideAhead = (input: CreateChunk): void => {
    const chunk = input.chunk + 1;
    if (chunk >= (input.batch.chunks ?? 0)) return;
    ahead = { chunk, decided: decideChunk(store, { ...input, chunk }) };
    // Heard of when its turn comes, which may be never.
    ahead.decided.catch(() => {});
  };

  return (input) =>
    decideAgain(store, async () => {
      const deciding = ahead?.chunk === input.chunk ? ahead.decided : decideChunk(store, input);
      // It serves once: what went wrong with it is decided afresh.
      ahead = undefined;
      const decided = await deciding;
      if (!decided) return 0;
      decideAhead(input);
      await write(store, { batch: input.batch, decided });
      for (const outcome of ['created', 'deduped', 'failed'] as const)
        store.metrics.importRows(outcome, countOf(decided.outcomes, outcome));
      return decided.made.length;
    });
}

/** Answers null for a chunk that has its outcome. */
async function decideChunk(store: Store, { batch, program, chunk }: CreateChunk): Promise<Decided | null> {
  const row = await readChunk(store, { batchId: batch._id, chunk });
  if (row.outcomes) return null;
  return decide(store, { batch, program, row, known: await knownEmails(store, { program, row }) });
}

export async function readChunk(
  store: Store,
  { batchId, chunk }: { batchId: string; chunk: number },
): Promise<BatchChunkRow> {
  const row = await store.rows.batchRows.findOne({ _id: chunkId(batchId, chunk) });
  if (!row) throw new Error(`Chunk ${chunk} of batch ${batchId} is gone.`);
  return row;
}

async function knownEmails(
  store: Store,
  { program, row }: { program: Program; row: BatchChunkRow },
): Promise<Map<string, EmailRow>> {
  const keys = row.rows.flatMap(({ person }) => (person?.email ? [emailKey(program._id, person.email)] : []));
  if (keys.length === 0) return new Map();
  const taken = await store.rows.emails.find({ _id: { $in: keys }, merchantId: program.merchantId }).toArray();
  return new Map(taken.map((email) => [email._id, email]));
}

interface Decide {
  batch: BatchRow;
  program: Program;
  row: BatchChunkRow;
  /** By email key; grows with the rows of the chunk, so that the first of two equal emails wins. */
  known: Map<string, EmailRow>;
}

function decide(store: Store, { batch, program, row, known }: Decide): Decided {
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
  return { row, outcomes: row.rows.map(create), made };
}

const countOf = (outcomes: ImportRowOutcome[], outcome: ImportRowOutcome['outcome']): number =>
  outcomes.filter((entry) => entry.outcome === outcome).length;

async function write(
  store: Store,
  { batch, decided: { row, outcomes, made } }: { batch: BatchRow; decided: Decided },
): Promise<void> {
  const { members, emails, memberTokens, transactions, batches, batchRows } = store.rows;
  const ledger = made.flatMap((rows) => rows.ledger ?? []);
  const tokens = made.flatMap((rows) => rows.tokens);
  const addresses = made.flatMap((rows) => rows.email ?? []);
  await inTransaction(store, async (session) => {
    const decidedNow = await batchRows.updateOne(
      { _id: row._id, outcomes: { $exists: false } },
      { $set: { outcomes } },
      { session },
    );
    if (decidedNow.matchedCount !== 1) throw new StaleRead('Another attempt decided these rows.');
    if (made.length > 0)
      await members.insertMany(
        made.map((rows) => rows.member),
        { session },
      );
    store.crashPoint('mid-chunk');
    if (addresses.length > 0) await emails.insertMany(addresses, { session });
    if (tokens.length > 0) await memberTokens.insertMany(tokens, { session });
    if (ledger.length > 0) await transactions.insertMany(ledger, { session });
    await batches.updateOne(
      { _id: batch._id },
      {
        $inc: {
          done: outcomes.length,
          'counts.created': countOf(outcomes, 'created'),
          'counts.deduped': countOf(outcomes, 'deduped'),
          'counts.failed': countOf(outcomes, 'failed'),
        },
      },
      { session },
    );
  });
}
