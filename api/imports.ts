// What an import is asked for and what it answers. The answer of the small one has every row; a worker that does not take it, or
// stops on the way, is told within bounds, and then either nothing was created or the batch goes on by itself.
import { chunksOf } from '../activities/batches.js';
import { requireEnrollable } from '../activities/enrollMember.js';
import { withdrawQueued } from '../activities/imports/openImport.js';
import { readProgram } from '../activities/programs.js';
import { type ImportResultRow, isFinished } from '../schemas/batches.js';
import type { BatchRow, ImportRow } from '../schemas/collections.js';
import { ServiceError } from '../schemas/errors.js';
import type { Program } from '../schemas/programs.js';
import type { ApiDeps } from './apiDeps.js';
import { notReached } from './failedRowsCsv.js';

/** Throws VALIDATION_FAILED, PROGRAM_NOT_FOUND, PROGRAM_ARCHIVED. */
export async function importProgram(
  deps: ApiDeps,
  { merchantId, programId, missing }: { merchantId: string; programId: string | undefined; missing: string },
): Promise<Program> {
  if (programId === undefined) throw new ServiceError('VALIDATION_FAILED', [{ path: 'programId', message: missing }]);
  const program = await readProgram(deps, { merchantId, programId });
  requireEnrollable(program, undefined);
  return program;
}

const joinableMs = 3_600_000;

/** The same file, sent before and not answered yet: whoever sends it again gets that import's answer and not a second one. */
export async function unansweredImport(
  deps: ApiDeps,
  { merchantId, fingerprint }: { merchantId: string; fingerprint: string },
): Promise<BatchRow | undefined> {
  const since = new Date(deps.now().getTime() - joinableMs);
  const recent = await deps.rows.batches.find({ merchantId, startedAt: { $gte: since } }).toArray();
  return recent.find(
    ({ fingerprint: known, phase, done, counts }) =>
      // The phase ends a moment after the last row, and the answer goes out with the last row.
      known === fingerprint && (phase === 'queued' || phase === 'creating') && done < counts.total,
  );
}

/** Since the request began: an import that stands still is told after `firstMs`, one that moves is waited for up to `lastMs`. */
const patience = { firstMs: 7_000, stillMs: 3_000, lastMs: 60_000, askMs: 50 };

/** The batch once each of its rows has its outcome, or it ended. `startedAt` is a `performance.now()`. Throws UNAVAILABLE. */
export async function rowsDone(
  deps: ApiDeps,
  { batchId, startedAt }: { batchId: string; startedAt: number },
): Promise<BatchRow> {
  let moved = { at: startedAt, done: -1 };
  for (;;) {
    const batch = await deps.rows.batches.findOne({ _id: batchId });
    if (!batch) throw new ServiceError('UNAVAILABLE');
    if (batch.done >= batch.counts.total || isFinished(batch.phase)) return batch;
    const now = performance.now();
    if (batch.done > moved.done) moved = { at: now, done: batch.done };
    const still = now - startedAt > patience.firstMs && now - moved.at > patience.stillMs;
    if (still || now - startedAt > patience.lastMs) return giveUp(deps, batch);
    await new Promise((resolve) => setTimeout(resolve, patience.askMs));
  }
}

async function giveUp(deps: ApiDeps, { _id: batchId }: BatchRow): Promise<never> {
  const withdrawn = await withdrawQueued(deps, { batchId, reason: 'No worker took it in time; nothing was created.' });
  const details = { batchId };
  if (withdrawn)
    throw new ServiceError('UNAVAILABLE', details, 'No worker took the import; nothing was created. Send it again.');
  throw new ServiceError(
    'UNAVAILABLE',
    details,
    `The import goes on without this request: GET /merchants/me/batches/${batchId} shows it, and the same file sent again joins it.`,
  );
}

/** What became of every row, in the order of the file. */
export async function importResults(deps: ApiDeps, { _id: batchId, chunks = 0 }: BatchRow): Promise<ImportResultRow[]> {
  const results: ImportResultRow[] = [];
  for await (const { rows, outcomes = [] } of chunksOf(deps, { batchId, chunks })) {
    const decided = new Map(outcomes.map((outcome) => [outcome.row, outcome]));
    for (const entry of rows) {
      const { eventId: _, ...shown } = decided.get(entry.row) ?? unreached(entry);
      results.push(shown);
    }
  }
  return results;
}

const unreached = ({ row, reason = notReached }: ImportRow): ImportResultRow & { eventId?: string } => ({
  row,
  outcome: 'failed',
  reason,
});

export function countsOf(results: readonly ImportResultRow[]) {
  const count = (outcome: ImportResultRow['outcome']) => results.filter((row) => row.outcome === outcome).length;
  return { total: results.length, created: count('created'), deduped: count('deduped'), failed: count('failed') };
}
