// An import from its upload until it is queued for a worker. An import that was never queued leaves nothing: when its
// file is refused or cut off, or when its API process dies, its batch and rows are removed.

import type { Deps } from '../../../platform/deps.js';
import { removeAll } from '../../../platform/mongodb/updateMany.js';
import type { BatchRow, ImportRow } from '../../../schemas/collections.js';
import { newId } from '../../../schemas/ids.js';
import type { Actor } from '../../../schemas/members.js';
import { insertBatch } from '../insertBatch.js';

export interface OpenImport {
  merchantId: string;
  programId: string;
  /** The columns of the file's first line, unchanged. */
  header: string[];
  startedBy: Actor;
  dryRun: boolean;
  fingerprint?: string;
}

/** Throws RATE_LIMITED. */
export async function openImport(deps: Deps, input: OpenImport): Promise<BatchRow> {
  const { dryRun, ...given } = input;
  const now = deps.now();
  const batch: BatchRow = {
    _id: newId(),
    ...given,
    kind: 'members.import',
    phase: 'storing',
    counts: { total: 0, created: 0, deduped: 0, failed: 0 },
    passIssuance: { apple: 0, google: 0 },
    done: 0,
    startedAt: now,
    phaseStartedAt: now,
    uploadSeenAt: now,
    ...(dryRun && { dryRun }),
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
  await deps.collections.importChunks.insertOne({
    _id: chunkId(batchId, chunk),
    batchId,
    merchantId,
    chunk,
    rows,
    createdAt: deps.now(),
  });
}

/** Records that the upload is still running, with the number of rows so far. */
export async function touchUpload(deps: Deps, { batchId, total }: { batchId: string; total: number }): Promise<void> {
  await deps.collections.batches.updateOne(
    { _id: batchId, phase: 'storing' },
    { $set: { uploadSeenAt: deps.now(), 'counts.total': total } },
  );
}

/** Queues the import; from then on a worker may start it. Returns false when the upload was abandoned before. */
export async function queueImport(
  deps: Deps,
  { batchId, chunks, total }: { batchId: string; chunks: number; total: number },
): Promise<boolean> {
  const queued = await deps.collections.batches.updateOne(
    { _id: batchId, phase: 'storing' },
    { $set: { phase: 'queued', phaseStartedAt: deps.now(), chunks, 'counts.total': total } },
  );
  return queued.matchedCount === 1;
}

/**
 * Cancels an import that no worker has started: no member was created, and none will be. Returns false when a worker
 * has started it.
 */
export async function withdrawQueued(
  deps: Deps,
  { batchId, reason }: { batchId: string; reason: string },
): Promise<boolean> {
  const withdrawn = await deps.collections.batches.updateOne(
    { _id: batchId, phase: 'queued' },
    { $set: { phase: 'cancelled', finishedAt: deps.now(), reason } },
  );
  return withdrawn.matchedCount === 1;
}

/** The API updates `uploadSeenAt` every 5 s. An upload without an update for this long has lost its API process. */
const abandonedAfterMs = 30_000;

export const isAbandoned = (deps: Pick<Deps, 'now'>, { uploadSeenAt, startedAt }: BatchRow): boolean =>
  deps.now().getTime() - (uploadSeenAt ?? startedAt).getTime() >= abandonedAfterMs;

/**
 * Removes an upload that was not queued. The rows are removed before the batch, so that another call can complete an
 * interrupted one.
 */
export async function abandonUpload(deps: Deps, { batchId }: { batchId: string }): Promise<void> {
  const abandoned = await deps.collections.batches.findOne(
    { _id: batchId, phase: 'storing' },
    { projection: { _id: 1 } },
  );
  if (!abandoned) return;
  await removeAll(deps, 'importChunks', { batchId });
  await deps.collections.batches.deleteOne({ _id: batchId, phase: 'storing' });
}
