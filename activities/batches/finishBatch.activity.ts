// Ends a batch of any kind: the batch gets its final phase and one event with its result. A repeated call changes
// nothing.

import type { Deps } from '../../platform/deps.js';
import { insertMissing } from '../../platform/mongodb/insertMissing.js';
import type { BatchRow } from '../../schemas/batches/batches.rows.js';
import { type BatchPhase, isFinished } from '../../schemas/batches/batches.schema.js';
import { campaignCountsOf } from '../../schemas/batches/campaigns.schema.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import { eventData, type MerchantEvent } from '../../schemas/events/events.schema.js';
import { shown } from '../../schemas/shared/answers.js';
import { derivedId, programIdOf } from '../../schemas/shared/ids.js';
import { newMerchantEvent } from '../events/newEvent.rules.js';
import { keptMs } from './removeRows.writes.js';
import { requireBatch } from './requireBatch.reads.js';

export interface FinishBatch {
  batchId: string;
  /** The workflow that will publish the event. */
  leaseOwner: string;
  /** Why the batch stopped early; absent when it ran to its end. */
  failure?: string;
}

function endOf(batch: BatchRow, failure: string | undefined): { phase: BatchPhase; reason?: string } {
  // A batch without `chunks` was cancelled while its targets were listed.
  const left = batch.chunks === undefined || batch.done < batch.counts.total;
  if (failure === 'cancelled' || (failure === undefined && batch.cancelRequestedAt && left))
    return { phase: 'cancelled', reason: 'It was cancelled before its end.' };
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
      { $set: { ...endOf(batch, failure), finishedAt: now, rowsUntil: new Date(now.getTime() + keptMs) } },
    );
    batch = await requireBatch(deps, batchId);
  }
  const event = endEventOf(deps, batch, leaseOwner);
  await insertMissing(deps.collections.events, [event]);
  return { phase: batch.phase, eventId: event._id };
}

/** The event of the end of a batch. Without a lease owner, the relay publishes it. */
export function endEventOf(deps: Deps, batch: BatchRow, leaseOwner: string | null = null): EventRow {
  const { _id, merchantId, programId, finishedAt = deps.now() } = batch;
  return newMerchantEvent(deps, {
    ...{ eventId: derivedId('batch', _id), merchantId, programId, occurredAt: finishedAt, leaseOwner },
    event: endEvent(batch, finishedAt),
  });
}

function endEvent(batch: BatchRow, finishedAt: Date): MerchantEvent {
  const { _id: batchId, campaign, reason = '' } = batch;
  const subject = { programId: batch.programId && programIdOf(batch.programId), finishedAt };
  const completed = batch.phase === 'completed';
  if (completed && campaign) {
    const counts = campaignCountsOf(batch.counts);
    const sent = { ...subject, ...campaign, campaignId: batchId, counts };
    return { type: 'campaign.sent', data: shown(eventData['campaign.sent'], batch, sent) };
  }
  const data = shown(eventData['batch.completed'], batch, { ...subject, batchId });
  return completed ? { type: 'batch.completed', data } : { type: 'batch.failed', data: { ...data, reason } };
}
