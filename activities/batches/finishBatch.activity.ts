// Ends a batch of any kind: the batch gets its final phase and one event with its result. A repeated call changes
// nothing.

import type { Deps } from '../../platform/deps.js';
import { insertMissing } from '../../platform/mongodb/insertMissing.js';
import type { BatchRow } from '../../schemas/batches/batches.rows.js';
import { type BatchPhase, isFinished } from '../../schemas/batches/batches.schema.js';
import { endEventOf } from './endEvent.rules.js';
import { keptMs } from './removeRows.writes.js';
import { requireBatch } from './requireBatch.reads.js';

export interface FinishBatch {
  batchId: string;
  /** The workflow that will publish the event. */
  leaseOwner: string;
  /** Why the batch stopped early; absent when it ran to its end. */
  failure?: string;
}

type End = { phase: BatchPhase; reason?: string } & Pick<BatchRow, 'cancelRequestedAt'>;

function endOf(batch: BatchRow, { failure, now }: { failure: string | undefined; now: Date }): End {
  // A batch without `chunks` was cancelled while its targets were listed.
  const left = batch.chunks === undefined || batch.done < batch.counts.total;
  if (failure === 'cancelled' || (failure === undefined && batch.cancelRequestedAt && left))
    // Its workflow can also be cancelled in Temporal, without a request here.
    return {
      phase: 'cancelled',
      reason: 'It was cancelled before its end.',
      cancelRequestedAt: batch.cancelRequestedAt ?? now,
    };
  return failure === undefined ? { phase: 'completed' } : { phase: 'failed', reason: failure };
}

/** Throws ApplicationFailure BATCH_NOT_FOUND. */
export async function finishBatch(
  deps: Deps,
  { batchId, leaseOwner, failure }: FinishBatch,
): Promise<{ phase: BatchPhase; eventId: string }> {
  let batch = await requireBatch(deps, batchId);
  // A late step of the batch may move it to its next phase meanwhile.
  while (!isFinished(batch.phase)) {
    const now = deps.now();
    await deps.collections.batches.updateOne(
      { _id: batchId, phase: batch.phase },
      { $set: { ...endOf(batch, { failure, now }), finishedAt: now, rowsUntil: new Date(now.getTime() + keptMs) } },
    );
    batch = await requireBatch(deps, batchId);
  }
  const event = endEventOf(deps, batch, leaseOwner);
  await insertMissing(deps.collections.events, [event]);
  return { phase: batch.phase, eventId: event._id };
}
