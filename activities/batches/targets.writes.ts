// Lists the targets of a batch once, before the first is processed. The list is stored chunk by chunk, and each call
// continues after the last stored chunk, so a worker that dies loses at most one chunk. Two calls at the same time
// cannot store the same chunk, so each target is in the list once. The outcomes of each chunk are counted once.

import type { Deps } from '../../platform/deps.js';
import { isDuplicateKey } from '../../platform/mongodb/conflicts.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { update } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { BatchRow, BatchTargetsRow, Position } from '../../schemas/batches/batches.rows.js';
import { type ImportCounts, isFinished } from '../../schemas/batches/batches.schema.js';
import type { ListProgress } from '../../schemas/tables/workflows.js';
import { requireActiveMerchant } from '../access/suspended.reads.js';
import { requireBatch } from './requireBatch.reads.js';
import { maxRunMs, type RunSignals } from './runChunks.effect.js';

/**
 * Marks a queued batch, or a scheduled one whose time has come, as running. Throws ApplicationFailure BATCH_NOT_FOUND
 * when the batch was removed before it began.
 */
async function beginBatch(deps: Deps, { batchId }: { batchId: string }): Promise<BatchRow> {
  const now = deps.now();
  await deps.collections.batches.updateOne(
    { _id: batchId, $or: [{ phase: 'queued' }, { phase: 'scheduled', sendAt: { $lte: now } }] },
    { $set: { phase: 'running', phaseStartedAt: now } },
  );
  return requireBatch(deps, batchId);
}

/**
 * Marks a scheduled batch as one whose workflow waits, so that its request does not take it back. Throws
 * ApplicationFailure BATCH_NOT_FOUND when it was taken back before.
 */
async function awaitTime(deps: Deps, { _id, sendAt }: BatchRow): Promise<ListProgress> {
  const mark = { $set: { phaseStartedAt: deps.now() } };
  const { matchedCount } = await deps.collections.batches.updateOne({ _id, phase: 'scheduled' }, mark);
  if (matchedCount === 0) await requireBatch(deps, _id);
  return { total: 0, more: true, notBefore: sendAt?.getTime() ?? 0 };
}

export interface ListTargets extends Partial<RunSignals> {
  batchId: string;
}

/** A page of rows: the targets among them, and the position of the last row. */
export interface Page {
  found: Position[];
  end: Position;
}

export interface TargetsOf {
  /** Number of ids in one chunk. */
  size: number;
  /** Yields the pages after a position, always in the same order. */
  find: (batch: BatchRow, after: Position | undefined) => AsyncIterable<Page>;
}

/**
 * Lists targets for about 3 s, from where the previous call stopped, or says until when a scheduled batch has to wait.
 * `more` is absent when the list is complete, or the batch was cancelled or has ended. Throws ApplicationFailure
 * BATCH_NOT_FOUND, MERCHANT_SUSPENDED.
 */
export async function listTargets(
  deps: Deps,
  { batchId, shutdownSignal, cancellationSignal }: ListTargets,
  { size, find }: TargetsOf,
): Promise<ListProgress> {
  const until = performance.now() + maxRunMs;
  const { batches, batchTargets } = deps.collections;
  const begun = await beginBatch(deps, { batchId });
  if (begun.phase === 'scheduled') return awaitTime(deps, begun);
  if (begun.chunks !== undefined || isFinished(begun.phase)) return { total: begun.counts.total };
  // A cancelled batch of a suspended merchant ends too; its first page says how many it would have reached.
  if (!begun.cancelRequestedAt) await requireActiveMerchant(deps, begun);
  const { merchantId } = begun;
  const [before] = await batchTargets.find({ batchId }).sort({ chunk: -1 }).limit(1).toArray();
  let chunk = before ? before.chunk + 1 : 0;
  let total = before?.upTo ?? 0;
  let open: string[] = [];

  const store = async (last: Position): Promise<void> => {
    const upTo = total + open.length;
    await batchTargets.insertOne({ _id: `${batchId}:${chunk}`, batchId, merchantId, chunk, ids: open, upTo, last });
    [chunk, total, open] = [chunk + 1, upTo, []];
    deps.crashPoint('mid-list');
  };
  /** Stores the open chunk, so that the next call continues after `end`. */
  const stop = async (end: Position): Promise<void> => {
    await store(end);
    await batches.updateOne({ _id: batchId, chunks: { $exists: false } }, { $set: { 'counts.total': total } });
  };

  try {
    let last = before?.last;
    for await (const { found, end } of find(begun, last)) {
      for (const target of found) {
        open.push(target.id);
        if (open.length === size) await store(target);
      }
      last = end;
      const { cancelRequestedAt, phase } = await requireBatch(deps, batchId);
      const over = cancelRequestedAt !== undefined || isFinished(phase);
      if (!over) await requireActiveMerchant(deps, begun);
      const interrupted = shutdownSignal?.aborted || cancellationSignal?.aborted || performance.now() > until;
      if (!over && !interrupted) continue;
      await stop(end);
      return { total, ...(!over && { more: true }) };
    }
    if (last && open.length > 0) await store(last);
  } catch (error) {
    // Another call has stored this chunk. The next call continues after it.
    if (isDuplicateKey(error)) return { total, more: true };
    throw error;
  }
  await batches.updateOne(
    { _id: batchId, chunks: { $exists: false } },
    { $set: { chunks: chunk, 'counts.total': total } },
  );
  return { total: (await requireBatch(deps, batchId)).counts.total };
}

export async function readTargets(
  deps: Deps,
  { batch, chunk }: { batch: BatchRow; chunk: number },
): Promise<BatchTargetsRow> {
  const targets = await deps.collections.batchTargets.findOne({ _id: `${batch._id}:${chunk}` });
  if (!targets) throw new Error(`Chunk ${chunk} of batch ${batch._id} is gone.`);
  return targets;
}

export type Outcomes = Pick<ImportCounts, 'created' | 'deduped' | 'failed'>;

export interface CountTargets {
  targets: BatchTargetsRow;
  outcomes: Outcomes;
  /** The failed targets that may still succeed later. */
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
