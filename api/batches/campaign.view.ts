// A campaign as callers see it: a batch whose counts have a campaign's names.
import type { z } from 'zod';
import type { BatchRow } from '../../schemas/batches/batches.rows.js';
import { percentOf } from '../../schemas/batches/batches.schema.js';
import { type campaign, campaignCountsOf } from '../../schemas/batches/campaigns.schema.js';
import { programIdOf } from '../../schemas/shared/ids.js';

export function presentCampaign(row: BatchRow): z.input<typeof campaign> {
  const { _id: id, phase, programId, counts, startedAt, finishedAt, startedBy, reason } = row;
  const { message = '', tags = [] } = row.campaign ?? {};
  return {
    id,
    phase,
    ...(programId !== undefined && { programId: programIdOf(programId) }),
    tags,
    message,
    counts: campaignCountsOf(counts),
    percent: percentOf(row),
    startedAt: startedAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
    startedBy,
    ...(reason !== undefined && { reason }),
  };
}
