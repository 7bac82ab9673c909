// Campaigns; a completed campaign creates the event campaign.sent (docs/interface.md#64-event-types).
import { z } from 'zod';
import { endpoint } from '../access/endpoint.schema.js';
import { campaign, campaignDryRun, campaignRequest } from './campaigns.schema.js';

const tag = 'Campaigns';
const all = '/merchants/me/campaigns';

export const campaignEndpoints = {
  sendCampaign: endpoint('post', all, {
    tag,
    summary: 'Send a message to the passes of all matching members',
    description:
      'Active members of the program, with all of the tags, in the audience, as far as each is named. The answer comes before the first push; `campaign.sent` tells of the end. 503 UNAVAILABLE means that nothing is sent. With `dryRun: true` 200 with how many members match, and how many of them have the card on a phone; nothing is sent or stored.',
    access: 'merchants.campaigns:create',
    audit: { action: 'campaign.send', writes: ['batches'] },
    body: campaignRequest,
    idempotent: true,
    result: z.union([campaign, campaignDryRun]),
    statuses: [202, 200],
    errors: ['PROGRAM_NOT_FOUND'],
    example: { programId: 'demo-points', tags: ['vip'], message: 'Double points today' },
  }),
  getCampaign: endpoint('get', `${all}/:id`, {
    tag,
    summary: 'How far a campaign is',
    access: 'merchants.campaigns:view',
    starterMay: true,
    result: campaign,
    errors: ['BATCH_NOT_FOUND'],
  }),
};
