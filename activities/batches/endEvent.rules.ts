// The event of the end of a batch of any kind.
import type { Deps } from '../../platform/deps.js';
import type { BatchRow } from '../../schemas/batches/batches.rows.js';
import { campaignCountsOf } from '../../schemas/batches/campaigns.schema.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import { eventData, type MerchantEvent } from '../../schemas/events/events.schema.js';
import { shown } from '../../schemas/shared/answers.js';
import { derivedId, programIdOf } from '../../schemas/shared/ids.js';
import { newMerchantEvent } from '../events/newEvent.rules.js';

/** Without a lease owner, the relay publishes it. */
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
