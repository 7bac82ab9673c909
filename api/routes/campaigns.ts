// Campaigns: one message to many members, sent by a batch.
import { readBatch } from '../../activities/batches/cancelBatch.js';
import { startBatch } from '../../activities/batches/startBatch.js';
import { programKeyIn, readProgram } from '../../activities/programs/readProgram.js';
import type { campaignEndpoints } from '../../schemas/endpoints/campaigns.js';
import { ServiceError } from '../../schemas/errors.js';
import { newId } from '../../schemas/ids.js';
import { asAccepted, batchKeyOf, sayRepeated } from '../idempotencyKey.js';
import { presentCampaign } from '../presenters/campaign.js';
import { countRecipients } from '../reads/recipients.js';
import type { Routes } from '../request.js';

export const campaignRoutes: Routes<keyof typeof campaignEndpoints> = {
  async sendCampaign({ deps, caller, body, ctx }) {
    const { merchantId, actor: startedBy } = caller;
    const key = batchKeyOf(deps, { ctx, merchantId, operation: 'campaign', owner: merchantId, body });
    const { message = '', dryRun } = body;
    const programId = await programKeyIn(deps, { merchantId, programId: body.programId });
    if (programId !== undefined) await readProgram(deps, { merchantId, programId });
    const tags = [...new Set(body.tags)];
    if (dryRun)
      return { status: 200, data: { dryRun, ...(await countRecipients(deps, { merchantId, programId, tags })) } };
    const batchId = newId();
    const row = await startBatch(deps, {
      batch: {
        _id: batchId,
        merchantId,
        kind: 'campaign',
        ...(programId !== undefined && { programId }),
        startedBy,
        campaign: { message, tags },
      },
      summary: `campaign to ${programId ?? 'all programs'}`,
      key,
    });
    sayRepeated(ctx, row._id !== batchId);
    return { status: 202, data: presentCampaign(asAccepted(row)) };
  },

  async getCampaign({ deps, caller, params }) {
    const row = await readBatch(deps, { merchantId: caller.merchantId, batchId: params.id ?? '' });
    if (row.kind !== 'campaign') throw new ServiceError('BATCH_NOT_FOUND');
    return { data: presentCampaign(row) };
  },
};
