// The life of an import from its upload until it is queued for a worker. One conditional update of its phase ends an
// upload, so it is either queued with all of its rows or ended without any. When the file is refused, batch and rows
// are removed. When the client disconnects or the API process dies, the rows are removed and the batch ends as failed.

import type { Deps } from '../../../platform/deps.js';
import { VersionConflict } from '../../../platform/mongodb/conflicts.js';
import { databaseNow } from '../../../platform/mongodb/databaseNow.js';
import { retryOnConflict } from '../../../platform/mongodb/retryOnConflict.js';
import { insert, update } from '../../../platform/mongodb/statements.js';
import { transact } from '../../../platform/mongodb/transact.js';
import type { Actor } from '../../../schemas/access/actor.schema.js';
import type { BatchRow, ImportRow } from '../../../schemas/batches/batches.rows.js';
import { marksOfRows } from '../../../schemas/batches/importMarks.rules.js';
import { newBatchRow } from '../../../schemas/batches/newBatch.rules.js';
import type { Delimiter } from '../../../schemas/shared/csv.rules.js';
import { ServiceError } from '../../../schemas/shared/errors.js';
import { newId } from '../../../schemas/shared/ids.js';
import { type BatchKey, claimBatchKey, noClaim } from '../batchKeys.rules.js';
import { endEventOf } from '../endEvent.rules.js';
import { insertBatch } from '../insertBatch.writes.js';
import { atOnce, keptMs, removeRows } from '../removeRows.writes.js';
import { emptyErasedRows } from './erasedRows.writes.js';

export interface OpenImport {
  merchantId: string;
  programId: string;
  /** The merchant's own columns in the first line of the file. */
  header: string[];
  delimiter: Delimiter;
  startedBy: Actor;
  quiet?: boolean;
  mapping?: NonNullable<BatchRow['mapping']>;
  unusedColumns?: string[];
  repairs?: string;
  awaited?: true;
}

/** Throws RATE_LIMITED. */
export async function openImport(deps: Deps, input: OpenImport): Promise<BatchRow> {
  const batch: BatchRow = {
    ...newBatchRow(deps, { _id: newId(), ...input, kind: 'members.import' }),
    phase: 'storing',
    phaseStartedAt: deps.now(),
    uploadSeenAt: await databaseNow(deps),
  };
  await insertBatch(deps, batch);
  return batch;
}

export const chunkId = (batchId: string, chunk: number): string => `${batchId}:${chunk}`;

export async function storeChunk(
  deps: Deps,
  { batch, chunk, rows }: { batch: BatchRow; chunk: number; rows: ImportRow[] },
): Promise<void> {
  const { _id: batchId, merchantId } = batch;
  const marks = marksOfRows(merchantId, { rows });
  await deps.collections.importChunks.insertOne({
    _id: chunkId(batchId, chunk),
    batchId,
    merchantId,
    chunk,
    rows,
    ...(marks.length > 0 && { marks }),
  });
  deps.crashPoint('mid-upload');
}

/**
 * Records that the upload is still running, and its number of rows so far. Returns false when it was already ended as
 * broken off.
 */
export async function touchUpload(
  deps: Deps,
  { batchId, total }: { batchId: string; total: number },
): Promise<boolean> {
  const touched = await deps.collections.batches.updateOne(
    { _id: batchId, phase: 'storing' },
    { $set: { uploadSeenAt: await databaseNow(deps), 'counts.total': total } },
  );
  return touched.matchedCount === 1;
}

/**
 * Queues the import; from then on a worker may start it. Returns the import that an earlier request with the key has
 * started, if there is one; then nothing is queued. Throws UNAVAILABLE when the upload was ended before, and
 * IDEMPOTENCY_KEY_REUSED.
 */
export async function queueImport(
  deps: Deps,
  {
    batchId,
    chunks,
    total,
    leftOut = 0,
    key,
  }: { batchId: string; chunks: number; total: number; leftOut?: number; key?: BatchKey },
): Promise<BatchRow | undefined> {
  const storing = { _id: batchId, phase: 'storing' } as const;
  return retryOnConflict(deps, async () => {
    const claim = key ? await claimBatchKey(deps, key, batchId) : noClaim;
    if (claim.batch) return claim.batch;
    if (!(await deps.collections.batches.findOne(storing, { projection: { _id: 1 } })))
      throw new ServiceError('UNAVAILABLE');
    const queued = update(deps, 'batches', storing, {
      $set: {
        phase: 'queued',
        phaseStartedAt: deps.now(),
        chunks,
        'counts.total': total,
        ...(leftOut > 0 && { leftOut }),
      },
      $unset: { uploadSeenAt: '' },
    });
    await transact(deps, [queued, ...claim.statements], 1 + claim.expectedMatches);
    return undefined;
  });
}

/**
 * Cancels an import that no worker has started: no member was or will be created. Returns false when a worker has
 * started it.
 */
export async function withdrawQueued(
  deps: Deps,
  { batchId, reason }: { batchId: string; reason: string },
): Promise<boolean> {
  const now = deps.now();
  const withdrawn = await deps.collections.batches.updateOne(
    { _id: batchId, phase: 'queued' },
    { $set: { phase: 'cancelled', finishedAt: now, reason, rowsUntil: new Date(now.getTime() + keptMs) } },
  );
  if (withdrawn.matchedCount === 0) return false;
  await emptyErasedRows(deps, batchId);
  return true;
}

/** The API updates `uploadSeenAt` every 5 s. An upload without an update for this long has lost its API process. */
const lostAfterMs = 20_000;

/**
 * `now` is the time of MongoDB, and so is `uploadSeenAt`. A time in the future was written before that clock was set
 * back.
 */
export const isLost = ({ uploadSeenAt, startedAt }: BatchRow, now: Date): boolean =>
  Math.abs(now.getTime() - (uploadSeenAt ?? startedAt).getTime()) >= lostAfterMs;

const nothing = { total: 0, created: 0, deduped: 0, failed: 0 };

const brokeOff = 'The upload broke off; nothing was created.';

/** Ends an upload that was not queued: its phase becomes failed, its event is written, and its rows are removed. */
export async function failUpload(deps: Deps, { batchId }: { batchId: string }): Promise<void> {
  const batch = await deps.collections.batches.findOne({ _id: batchId, phase: 'storing' });
  if (!batch) return;
  const end = {
    phase: 'failed',
    counts: nothing,
    reason: brokeOff,
    finishedAt: deps.now(),
    rowsUntil: atOnce,
  } as const;
  try {
    await transact(
      deps,
      [
        update(deps, 'batches', { _id: batchId, phase: 'storing' }, { $set: end }),
        insert(deps, 'events', endEventOf(deps, { ...batch, ...end })),
      ],
      1,
    );
  } catch (error) {
    // It was queued or ended in the meantime.
    if (error instanceof VersionConflict) return;
    throw error;
  }
  await removeRows(deps, { _id: batchId, rowsUntil: atOnce });
}

const refused = 'The file was refused; nothing was created.';

/** Removes an upload whose file was refused. Does nothing when it was queued. */
export async function discardUpload(deps: Deps, { batchId }: { batchId: string }): Promise<void> {
  const { batches } = deps.collections;
  const ended = await batches.updateOne(
    { _id: batchId, phase: 'storing' },
    { $set: { phase: 'failed', counts: nothing, reason: refused, finishedAt: deps.now(), rowsUntil: atOnce } },
  );
  const upload = await batches.findOne({ _id: batchId, uploadSeenAt: { $exists: true } });
  if (!upload) return;
  await removeRows(deps, upload);
  if (ended.matchedCount === 1) await batches.deleteOne({ _id: batchId });
}
