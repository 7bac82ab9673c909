// The pull feed, for receivers that were unavailable and need every missed event.
import { z } from 'zod';
import { endpoint, feedLimit } from '../access/endpoint.schema.js';
import { text } from '../shared/text.js';
import { feedPage, feedTypes } from './feed.schema.js';

export const feedEndpoints = {
  readFeed: endpoint('get', '/merchants/me/events', {
    tag: 'Webhooks',
    summary: 'Read the events of the merchant, page after page',
    description:
      'The same envelopes as the webhooks, in one order for everybody, from the oldest that is kept (90 days) on. No event ever appears before a cursor that was handed out, so a reader that continues from the last cursor misses no event. A page may have fewer events than `limit`, or none, while `more` is true. The order is that of the feed; `data.memberVersion` orders the events of one member. Without `merchants.members:view` names, emails and phone numbers are masked as in the delivery log.',
    access: 'merchants.campaigns:view',
    query: z.strictObject({ after: text(1, 100).optional(), types: feedTypes.optional(), limit: feedLimit }),
    result: feedPage,
  }),
};
