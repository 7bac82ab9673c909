// The end of a batch of any kind, told once: the batch takes the phase it will keep, and its event says what it says.
import { type BatchPhase, isFinished } from '../schemas/batches.js';
import { campaignCountsOf } from '../schemas/campaigns.js';
import type { BatchRow, EventRow } from '../schemas/collections.js';
import { ServiceError } from '../schemas/errors.js';
import { type EventData, type EventType, shardOf } from '../schemas/events.js';
import { derivedId } from '../schemas/ids.js';
import type { Store } from './deps.js';
import { nonRetryable } from './imports/takeSteps.js';
import { insertNew } from './insertNew.js';
import { graceMs } from './newEvent.js';

export interface FinishBatch {
  batchId: string;
  /** The workflow that will publish the event. */
  holder: string;
  /** Why it stopped early; absent when it came to its end. */
  failure?: string;
}

function endOf(batch: BatchRow, failure: string | undefined): { phase: BatchPhase; reason?: string } {
  if (failure === 'cancelled' || (failure === undefined && batch.cancelRequestedAt && batch.done < batch.counts.total))
    return { phase: 'cancelled', reason: 'It was cancelled before its end.' };
  return failure === undefined ? { phase: 'completed' } : { phase: 'failed', reason: failure };
}

/** Throws ApplicationFailure BATCH_NOT_FOUND. */
export async function finishBatch(
  store: Store,
  { batchId, holder, failure }: FinishBatch,
): Promise<{ phase: BatchPhase; eventId: string }> {
  const { batches } = store.rows;
  const before = await batches.findOne({ _id: batchId });
  if (before && !isFinished(before.phase))
    await batches.updateOne(
      { _id: batchId, phase: before.phase },
      { $set: { ...endOf(before, failure), finishedAt: store.now() } },
    );
  const batch = await batches.findOne({ _id: batchId });
  if (!batch) throw nonRetryable(new ServiceError('BATCH_NOT_FOUND'));
  const event = endEvent(store, { batch, holder });
  await insertNew(store.rows.events, [event]);
  return { phase: batch.phase, eventId: event._id };
}

function endEvent(store: Store, { batch, holder }: { batch: BatchRow; holder: string }): EventRow {
  const { _id: batchId, merchantId, programId, finishedAt = store.now() } = batch;
  return {
    _id: derivedId('batch', batchId),
    merchantId,
    ...told(batch, finishedAt),
    ...(programId && { programId }),
    occurredAt: finishedAt,
    state: 'new',
    holder,
    dueAt: new Date(store.now().getTime() + graceMs),
    shard: shardOf(merchantId, store.config.RELAY_SHARDS),
  };
}

function told(batch: BatchRow, finishedAt: Date): { type: EventType; data: Record<string, unknown> } {
  const { _id: batchId, merchantId, programId, kind, counts, passIssuance, campaign, dryRun, reason = '' } = batch;
  const times = { startedAt: batch.startedAt.toISOString(), finishedAt: finishedAt.toISOString() };
  const subject = { merchantId, ...(programId && { programId }) };
  const completed = batch.phase === 'completed';
  if (completed && campaign) {
    const data: EventData<'campaign.sent'> = {
      campaignId: batchId,
      ...subject,
      ...campaign,
      counts: campaignCountsOf(counts),
      ...times,
    };
    return { type: 'campaign.sent', data };
  }
  const data: EventData<'batch.completed'> = {
    batchId,
    kind,
    ...subject,
    counts,
    passIssuance,
    ...times,
    ...(dryRun && { dryRun }),
  };
  return completed ? { type: 'batch.completed', data } : { type: 'batch.failed', data: { ...data, reason } };
}
