// The pull feed, with the same envelopes as the webhooks.

import type { Envelope } from '../../schemas/events/events.schema.js';
import type { feedEndpoints } from '../../schemas/events/feed.routes.js';
import { feedCursor, parseFeedCursor } from '../../schemas/events/feed.schema.js';
import type { Routes } from '../http/request.js';
import { notACursor, readFeed } from './feed.reads.js';

export const feedRoutes: Routes<keyof typeof feedEndpoints> = {
  async readFeed({ deps, caller: { merchantId }, query }) {
    const after = query.after === undefined ? 0 : parseFeedCursor(merchantId, query.after);
    if (after === null) throw notACursor();
    const { envelopes, sequence, more } = await readFeed(deps, { ...query, merchantId, after });
    // The bytes come from envelopeBytes; the schema describes its output.
    const items = envelopes.map(({ buffer }) => JSON.parse(Buffer.from(buffer).toString('utf8')) as Envelope);
    return { data: { items, cursor: feedCursor(merchantId, sequence), more } };
  },
};
