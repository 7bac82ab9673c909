// Campaigns: a batch that puts one message on the passes of all members that match.
import { z } from 'zod';
import { audience } from '../members/audiences.rules.js';
import { tag } from '../members/members.schema.js';
import { moment } from '../shared/calendar.rules.js';
import { has } from '../shared/presence.js';
import { idText, text } from '../shared/text.js';
import { batch, type ImportCounts } from './batches.schema.js';

export const campaignRequest = z
  .strictObject({
    programId: idText().optional().describe('only members of this program'),
    tags: z.array(tag).min(1).max(25).optional().describe('only members that have all of these tags'),
    audience: audience.optional(),
    message: text(1, 200).optional().describe('shown on the lock screen; required unless `dryRun` is true'),
    sendAt: moment.optional().describe('when to send it, within the next 400 days; at once where it is absent'),
    dryRun: z.boolean().optional().describe('answers how many members match, and sends nothing'),
  })
  .refine(({ message, dryRun }) => dryRun || message !== undefined, { path: ['message'], message: 'is required' })
  .meta({
    if: { properties: { dryRun: { const: true } }, required: ['dryRun'] },
    else: has('message'),
  });

export const campaignDryRun = z.object({
  dryRun: z.literal(true),
  matched: z.int().describe('active members that match now'),
  reachable: z.int().describe('those of them who have the card on a phone'),
  complete: z
    .boolean()
    .describe('false when there may be more: counting ends at LIST_MAX_ROWS, or after half a second'),
});

export const campaignCounts = z.object({
  matched: z.int().describe('active members that match, when the campaign began'),
  pushed: z.int().describe('accepted by APNs or Google'),
  skipped: z.int().describe('nobody to push to: no device and no saved pass, or stub mode'),
  failed: z.int().describe('not reached yet; the push is retried'),
});

/** Renames the counts of a batch, which have the names of an import, to those of a campaign. */
export function campaignCountsOf({ total, created, deduped, failed }: ImportCounts): z.infer<typeof campaignCounts> {
  return { matched: total, pushed: created, skipped: deduped, failed };
}

const { id, phase, programId, percent, startedAt, finishedAt, sendAt, startedBy, automatic, reason } = batch.shape;

export const campaign = z.object({
  id,
  phase,
  programId,
  tags: z.array(z.string()),
  audience: audience.optional(),
  message: z.string(),
  counts: campaignCounts,
  percent,
  startedAt,
  finishedAt,
  sendAt,
  startedBy,
  automatic,
  reason,
});
