// Snapshots the targets of a batch once, before the first is processed. So the total and the order are fixed, and every
// attempt works on the same list. The outcomes of each chunk are counted once.

import type { Deps } from '../../platform/deps.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { update } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { ImportCounts } from '../../schemas/batches.js';
import type { BatchRow, BatchTargetsRow } from '../../schemas/collections.js';
import { newId } from '../../schemas/ids.js';
import { requireBatch } from './requireBatch.js';

const insertBatchSize = 10;

/**
 * Marks a queued batch as running. Throws ApplicationFailure BATCH_NOT_FOUND when the batch was removed before it
 * began.
 */
export async function beginBatch(deps: Deps, { batchId }: { batchId: string }): Promise<BatchRow> {
  await deps.collections.batches.updateOne(
    { _id: batchId, phase: 'queued' },
    { $set: { phase: 'running', phaseStartedAt: deps.now() } },
  );
  return requireBatch(deps, batchId);
}

export interface SnapshotTargets {
  batch: BatchRow;
  ids: AsyncIterable<string>;
  /** Number of ids in one chunk. */
  size: number;
}

/**
 * The first call that has stored a complete list sets the list of the batch. Concurrent and later calls use that list.
 */
export async function snapshotTargets(deps: Deps, { batch, ids, size }: SnapshotTargets): Promise<{ total: number }> {
  if (batch.listId !== undefined) return { total: batch.counts.total };
  const { _id: batchId, merchantId } = batch;
  const listId = newId();
  const rows: BatchTargetsRow[] = [];
  let chunks = 0;
  let total = 0;
  const add = (chunk: string[]) => {
    rows.push({ _id: `${listId}:${chunks}`, batchId, merchantId, ids: chunk, createdAt: deps.now() });
    chunks += 1;
    total += chunk.length;
  };
  const flush = async () => {
    if (rows.length > 0) await deps.collections.batchTargets.insertMany(rows.splice(0));
  };
  let open: string[] = [];
  for await (const id of ids) {
    open.push(id);
    if (open.length < size) continue;
    add(open);
    open = [];
    if (rows.length >= insertBatchSize) await flush();
  }
  if (open.length > 0) add(open);
  await flush();
  await deps.collections.batches.updateOne(
    { _id: batchId, listId: { $exists: false } },
    { $set: { listId, chunks, 'counts.total': total } },
  );
  return { total: (await beginBatch(deps, { batchId })).counts.total };
}

export async function readTargets(
  deps: Deps,
  { batch, chunk }: { batch: BatchRow; chunk: number },
): Promise<BatchTargetsRow> {
  const targets = await deps.collections.batchTargets.findOne({ _id: `${batch.listId}:${chunk}` });
  if (!targets) throw new Error(`Chunk ${chunk} of batch ${batch._id} is gone.`);
  return targets;
}

export type Outcomes = Pick<ImportCounts, 'created' | 'deduped' | 'failed'>;

export interface CountTargets {
  targets: BatchTargetsRow;
  outcomes: Outcomes;
  /** The failed targets that may still succeed. */
  failedIds?: string[];
}

/** Adds the outcomes of a chunk to the counts of its batch, unless another attempt has added them. */
export async function countTargets(
  deps: Deps,
  { targets: { _id, batchId }, outcomes, failedIds = [] }: CountTargets,
): Promise<void> {
  const { created, deduped, failed } = outcomes;
  const counts = { 'counts.created': created, 'counts.deduped': deduped, 'counts.failed': failed };
  await retryOnConflict(deps, async () => {
    const open = await deps.collections.batchTargets.findOne({ _id, counted: { $exists: false } });
    if (!open) return;
    await transact(
      deps,
      [
        update(
          deps,
          'batchTargets',
          { _id, counted: { $exists: false } },
          { $set: { counted: true, ...(failedIds.length > 0 && { failedIds }) } },
        ),
        update(deps, 'batches', { _id: batchId }, { $inc: { done: open.ids.length, ...counts } }),
      ],
      2,
    );
  });
}
