// A campaign as callers see it: a batch whose counts have a campaign's names.
import type { BatchRow } from '../../schemas/batches/batches.rows.js';
import { percentOf } from '../../schemas/batches/batches.schema.js';
import { campaign, campaignCountsOf } from '../../schemas/batches/campaigns.schema.js';
import { shown } from '../../schemas/shared/answers.js';
import { programIdOf } from '../../schemas/shared/ids.js';

export function presentCampaign(row: BatchRow) {
  const { message = '', tags = [], audience } = row.campaign ?? {};
  return shown(campaign, row, {
    programId: row.programId && programIdOf(row.programId),
    tags,
    audience,
    message,
    counts: campaignCountsOf(row.counts),
    percent: percentOf(row),
  });
}
