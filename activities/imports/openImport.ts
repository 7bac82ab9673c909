// An import from its file to the moment a worker may take it. Until it is queued nothing of it counts: a file that is refused,
// cut off, or whose API died leaves neither batch nor rows.
import type { BatchRow, ImportRow } from '../../schemas/collections.js';
import { newId } from '../../schemas/ids.js';
import type { Actor } from '../../schemas/members.js';
import type { Store } from '../deps.js';

export interface OpenImport {
  merchantId: string;
  programId: string;
  /** The first line of the file as it came. */
  header: string[];
  startedBy: Actor;
  dryRun: boolean;
  fingerprint?: string;
}

export async function openImport(store: Store, input: OpenImport): Promise<BatchRow> {
  const { dryRun, ...given } = input;
  const now = store.now();
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
  await store.rows.batches.insertOne(batch);
  return batch;
}

export const chunkId = (batchId: string, chunk: number): string => `${batchId}:${chunk}`;

export async function storeChunk(
  store: Store,
  { batch, chunk, rows }: { batch: BatchRow; chunk: number; rows: ImportRow[] },
): Promise<void> {
  const { _id: batchId, merchantId } = batch;
  await store.rows.batchRows.insertOne({
    _id: chunkId(batchId, chunk),
    batchId,
    merchantId,
    chunk,
    rows,
    createdAt: store.now(),
  });
}

/** A sign of life of an upload that is under way, with the rows so far. */
export async function touchUpload(store: Store, { batchId, total }: { batchId: string; total: number }): Promise<void> {
  await store.rows.batches.updateOne(
    { _id: batchId, phase: 'storing' },
    { $set: { uploadSeenAt: store.now(), 'counts.total': total } },
  );
}

/** From here on a worker may take it. False when the upload was given up in the meantime. */
export async function queueImport(
  store: Store,
  { batchId, chunks, total }: { batchId: string; chunks: number; total: number },
): Promise<boolean> {
  const queued = await store.rows.batches.updateOne(
    { _id: batchId, phase: 'storing' },
    { $set: { phase: 'queued', phaseStartedAt: store.now(), chunks, 'counts.total': total } },
  );
  return queued.matchedCount === 1;
}

/** Takes back an upload; its rows are removed by {@link discardRows}. */
export async function dropUpload(store: Store, { batchId }: { batchId: string }): Promise<void> {
  await store.rows.batches.deleteOne({ _id: batchId, phase: 'storing' });
}

/** Ends a batch that no worker has taken: nothing of it was created and nothing will be. False when one has. */
export async function withdrawQueued(
  store: Store,
  { batchId, reason }: { batchId: string; reason: string },
): Promise<boolean> {
  const withdrawn = await store.rows.batches.updateOne(
    { _id: batchId, phase: 'queued' },
    { $set: { phase: 'cancelled', finishedAt: store.now(), reason } },
  );
  return withdrawn.matchedCount === 1;
}

/** The API says that it lives every few seconds; an upload without a sign for this long has lost it. */
const abandonedAfterMs = 30_000;

export type UploadState = 'storing' | 'gone' | 'ready';

/** What became of an upload, for the workflow that waits for it. One that was abandoned is dropped here. */
export async function uploadState(store: Store, { batchId }: { batchId: string }): Promise<{ state: UploadState }> {
  const batch = await store.rows.batches.findOne({ _id: batchId });
  if (!batch) return { state: 'gone' };
  if (batch.phase !== 'storing') return { state: 'ready' };
  const seenAt = batch.uploadSeenAt ?? batch.startedAt;
  if (store.now().getTime() - seenAt.getTime() < abandonedAfterMs) return { state: 'storing' };
  await dropUpload(store, { batchId });
  return { state: 'gone' };
}

const discardedAtOnce = 200;

/** Removes what was stored of an upload that is gone. */
export async function discardRows(store: Store, { batchId }: { batchId: string }): Promise<{ discarded: number }> {
  const { batchRows } = store.rows;
  for (let discarded = 0; ; ) {
    const found = await batchRows
      .find({ batchId }, { projection: { _id: 1 } })
      .limit(discardedAtOnce)
      .toArray();
    if (found.length === 0) return { discarded };
    discarded += (await batchRows.deleteMany({ _id: { $in: found.map((row) => row._id) } })).deletedCount;
  }
}
