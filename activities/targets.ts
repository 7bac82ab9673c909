// The list of whom or what a batch is for, drawn up once before anything is done to anyone: so its total is known, its order
// stands still, and whoever runs the batch again works through the same list. What became of a chunk of it is counted once.

import type { ImportCounts } from '../schemas/batches.js';
import type { BatchRow, BatchTargetsRow } from '../schemas/collections.js';
import { ServiceError } from '../schemas/errors.js';
import { newId } from '../schemas/ids.js';
import type { Store } from './deps.js';
import { nonRetryable } from './imports/takeSteps.js';
import { decideAgain, transact, update } from './transact.js';

const chunksTogether = 10;

/** Throws ApplicationFailure BATCH_NOT_FOUND: the batch was refused before it began. */
export async function beginBatch(store: Store, { batchId }: { batchId: string }): Promise<BatchRow> {
  await store.rows.batches.updateOne(
    { _id: batchId, phase: 'queued' },
    { $set: { phase: 'running', phaseStartedAt: store.now() } },
  );
  const batch = await store.rows.batches.findOne({ _id: batchId });
  if (!batch) throw nonRetryable(new ServiceError('BATCH_NOT_FOUND'));
  return batch;
}

export interface DrawUp {
  batch: BatchRow;
  ids: AsyncIterable<string>;
  /** Ids in one chunk. */
  size: number;
}

/** Whoever is first to have a whole list has made the list; others, and later ones, find it. */
export async function drawUp(store: Store, { batch, ids, size }: DrawUp): Promise<{ total: number }> {
  if (batch.listId !== undefined) return { total: batch.counts.total };
  const { _id: batchId, merchantId } = batch;
  const listId = newId();
  const rows: BatchTargetsRow[] = [];
  let chunks = 0;
  let total = 0;
  const add = (chunk: string[]) => {
    rows.push({ _id: `${listId}:${chunks}`, batchId, merchantId, ids: chunk, createdAt: store.now() });
    chunks += 1;
    total += chunk.length;
  };
  const flush = async () => {
    if (rows.length > 0) await store.rows.batchTargets.insertMany(rows.splice(0));
  };
  let open: string[] = [];
  for await (const id of ids) {
    open.push(id);
    if (open.length < size) continue;
    add(open);
    open = [];
    if (rows.length >= chunksTogether) await flush();
  }
  if (open.length > 0) add(open);
  await flush();
  await store.rows.batches.updateOne(
    { _id: batchId, listId: { $exists: false } },
    { $set: { listId, chunks, 'counts.total': total } },
  );
  return { total: (await beginBatch(store, { batchId })).counts.total };
}

export async function readTargets(
  store: Store,
  { batch, chunk }: { batch: BatchRow; chunk: number },
): Promise<BatchTargetsRow> {
  const targets = await store.rows.batchTargets.findOne({ _id: `${batch.listId}:${chunk}` });
  if (!targets) throw new Error(`Chunk ${chunk} of batch ${batch._id} is gone.`);
  return targets;
}

export type Outcomes = Pick<ImportCounts, 'created' | 'deduped' | 'failed'>;

/** Adds to the counts of the batch, unless another attempt of the same chunk has. */
export async function countTargets(
  store: Store,
  { targets: { _id, batchId }, outcomes }: { targets: BatchTargetsRow; outcomes: Outcomes },
): Promise<void> {
  const { created, deduped, failed } = outcomes;
  const counts = { 'counts.created': created, 'counts.deduped': deduped, 'counts.failed': failed };
  await decideAgain(store, async () => {
    const open = await store.rows.batchTargets.findOne({ _id, counted: { $exists: false } });
    if (!open) return;
    await transact(
      store,
      [
        update(store, 'batchTargets', { _id, counted: { $exists: false } }, { $set: { counted: true } }),
        update(store, 'batches', { _id: batchId }, { $inc: { done: open.ids.length, ...counts } }),
      ],
      2,
    );
  });
}
