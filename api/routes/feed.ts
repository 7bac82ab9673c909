// The pull feed: the very envelopes that the webhooks carry.
import { notACursor, readFeed } from '../../activities/feed.js';
import type { feedEndpoints } from '../../schemas/endpoints/feed.js';
import { type Envelope, feedCursor, parseFeedCursor } from '../../schemas/feed.js';
import type { Routes } from '../request.js';

export const feedRoutes: Routes<keyof typeof feedEndpoints> = {
  async readFeed({ deps, caller: { merchantId }, query }) {
    const after = query.after === undefined ? 0 : parseFeedCursor(merchantId, query.after);
    if (after === null) throw notACursor();
    const { envelopes, sequence, more } = await readFeed(deps, { ...query, merchantId, after });
    // Made by envelopeBytes, which is what the schema describes.
    const items = envelopes.map(({ buffer }) => JSON.parse(Buffer.from(buffer).toString('utf8')) as Envelope);
    return { data: { items, cursor: feedCursor(merchantId, sequence), more } };
  },
};
