// Checks the program of an import, and waits for the answer of a small import, which has the outcome of every row. When
// no worker takes the import, or a worker stops during it, the wait ends with UNAVAILABLE after a bounded time; then
// either nothing was created, or the batch continues without the request.

import { isWithdrawn } from '../../../activities/batches/batchKeys.rules.js';
import { withdrawQueued } from '../../../activities/batches/imports/openImport.effect.js';
import { programKeyOf, readProgram } from '../../../activities/programs/program.reads.js';
import type { BatchRow, ImportRow, ImportRowOutcome } from '../../../schemas/batches/batches.rows.js';
import { type ImportResultRow, isFinished } from '../../../schemas/batches/batches.schema.js';
import type { Program } from '../../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../../schemas/shared/errors.js';
import type { ApiDeps } from '../../http/apiDeps.js';
import { chunksOf } from '../batches.reads.js';
import type { ImportRequest } from './importRequest.rules.js';
import { notProcessed } from './rowsCsv.view.js';

interface ImportProgram {
  merchantId: string;
  programId?: string | undefined;
  /** What is wrong with a request without a program. */
  missing: string;
  request: Pick<ImportRequest, 'isRepeated'>;
  dryRun?: boolean | undefined;
}

/**
 * Throws VALIDATION_FAILED, PROGRAM_NOT_FOUND, and PROGRAM_ARCHIVED unless the request repeats one from before the
 * program was archived.
 */
export async function importProgram(
  deps: ApiDeps,
  { merchantId, programId, missing, request, dryRun }: ImportProgram,
): Promise<Program> {
  if (programId === undefined) throw new ServiceError('VALIDATION_FAILED', [{ path: 'programId', message: missing }]);
  const program = await readProgram(deps, {
    merchantId,
    programId: await programKeyOf(deps, { merchantId, programId }),
  });
  if (program.archived && (dryRun || !(await request.isRepeated()))) throw new ServiceError('PROGRAM_ARCHIVED');
  return program;
}

/**
 * In milliseconds. The request gives up when no worker took the import for `queuedMs`, when the import then made no
 * progress for `stillMs`, and after `lastMs` in any case. It reads the batch every `askMs`. A worker repeats a contended
 * chunk for 8 s, and another takes the chunk of a dead worker after 4 s, so `stillMs` is longer than both.
 */
const waitLimits = { queuedMs: 7_000, stillMs: 12_000, lastMs: 60_000, askMs: 50 };

/**
 * Waits until every row of the batch has an outcome or the batch has ended, and returns the batch. Throws UNAVAILABLE
 * when the wait ends before.
 */
export async function awaitRows(deps: ApiDeps, batchId: string): Promise<BatchRow> {
  const startedAt = performance.now();
  let moved = { at: startedAt, progress: 'queued 0' };
  for (;;) {
    const batch = await deps.collections.batches.findOne({ _id: batchId });
    if (!batch) throw new ServiceError('UNAVAILABLE');
    if (isWithdrawn(batch)) throw withdrawnAnswer(batchId);
    if (batch.done >= batch.counts.total || isFinished(batch.phase)) return batch;
    const now = performance.now();
    const progress = `${batch.phase} ${batch.done}`;
    if (progress !== moved.progress) moved = { at: now, progress };
    const still = now - moved.at > (batch.phase === 'queued' ? waitLimits.queuedMs : waitLimits.stillMs);
    if (still || now - startedAt > waitLimits.lastMs) return giveUp(deps, batch);
    await new Promise((resolve) => setTimeout(resolve, waitLimits.askMs));
  }
}

async function giveUp(deps: ApiDeps, { _id: batchId }: BatchRow): Promise<never> {
  const withdrawn = await withdrawQueued(deps, { batchId, reason: 'No worker took it in time; nothing was created.' });
  if (withdrawn) throw withdrawnAnswer(batchId);
  throw new ServiceError(
    'UNAVAILABLE',
    { batchId },
    `The import goes on without this request: GET /merchants/me/batches/${batchId} shows it, and the same request sent again joins it.`,
  );
}

const withdrawnAnswer = (batchId: string): ServiceError =>
  new ServiceError('UNAVAILABLE', { batchId }, 'No worker took the import; nothing was created. Send it again.');

/** The outcome of every row, in the order of the file. */
export async function importResults(deps: ApiDeps, { _id: batchId, chunks = 0 }: BatchRow): Promise<ImportResultRow[]> {
  const results: ImportResultRow[] = [];
  for await (const { rows, outcomes = [] } of chunksOf(deps, { batchId, chunks })) {
    const decided = new Map(outcomes.map((outcome) => [outcome.row, outcome]));
    for (const entry of rows) {
      const { row, eventId: _, mistakes: __, ...shown } = decided.get(entry.row) ?? unprocessed(entry);
      const { line, leftOut } = entry;
      results.push({
        row,
        ...(line !== undefined && { line }),
        ...shown,
        ...(leftOut !== undefined && { leftOut }),
      });
    }
  }
  return results;
}

const unprocessed = ({ row, reason = notProcessed }: ImportRow): Omit<ImportRowOutcome, 'memberId'> => ({
  row,
  outcome: 'failed',
  reason,
});

export function countsOf(results: readonly ImportResultRow[]) {
  const count = (outcome: ImportResultRow['outcome']) => results.filter((row) => row.outcome === outcome).length;
  const leftOut = leftOutOf(results).length;
  return {
    ...{ total: results.length, created: count('created'), deduped: count('deduped'), failed: count('failed') },
    ...(leftOut > 0 && { leftOut }),
  };
}

/** The rows that lack a cell because it cannot be read. */
export const leftOutOf = <Row extends { leftOut?: string | undefined }>(rows: readonly Row[]): Row[] =>
  rows.filter((row) => row.leftOut !== undefined);
