// Campaigns: one message to many members, sent by a batch.

import { readBatch } from '../../activities/batches/cancelBatch.writes.js';
import { startBatch } from '../../activities/batches/startBatch.effect.js';
import { programKeyIn, readProgram } from '../../activities/programs/program.reads.js';
import type { campaignEndpoints } from '../../schemas/batches/campaigns.routes.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { newId } from '../../schemas/shared/ids.js';
import type { ApiDeps } from '../http/apiDeps.js';
import { asAccepted, batchKeyOf, sayRepeated } from '../http/idempotencyKey.js';
import type { Routes } from '../http/request.js';
import { presentCampaign } from './campaign.view.js';
import { countRecipients } from './recipients.reads.js';

const longestMs = 400 * 86_400_000;

/** Throws VALIDATION_FAILED. */
function requireToCome({ now }: Pick<ApiDeps, 'now'>, sendAt: Date): void {
  const inMs = sendAt.getTime() - now().getTime();
  if (inMs <= 0 || inMs > longestMs)
    throw new ServiceError('VALIDATION_FAILED', [{ path: 'sendAt', message: 'must be within the next 400 days' }]);
}

export const campaignRoutes: Routes<keyof typeof campaignEndpoints> = {
  async sendCampaign({ deps, caller, body, ctx }) {
    const { merchantId, actor: startedBy } = caller;
    const key = batchKeyOf(deps, { ctx, merchantId, operation: 'campaign', owner: merchantId, body });
    const { message = '', dryRun, audience, sendAt } = body;
    const programId = await programKeyIn(deps, { merchantId, programId: body.programId });
    if (programId !== undefined) await readProgram(deps, { merchantId, programId });
    const tags = [...new Set(body.tags)];
    if (dryRun)
      return {
        status: 200,
        data: { dryRun, ...(await countRecipients(deps, { merchantId, programId, tags, audience })) },
      };
    const batchId = newId();
    const row = await startBatch(deps, {
      batch: {
        _id: batchId,
        merchantId,
        kind: 'campaign',
        ...(programId !== undefined && { programId }),
        startedBy,
        ...(sendAt && { sendAt }),
        campaign: { message, tags, ...(audience && { audience }) },
      },
      summary: `campaign to ${programId ?? 'all programs'}${sendAt ? ` at ${sendAt.toISOString()}` : ''}`,
      key,
      check: () => sendAt && requireToCome(deps, sendAt),
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
