// What the parts of a subscription's page share.
import { api, data } from '../api.js';

/** What somebody needs who chooses where personal data goes. */
export const readsMembers = 'merchants.members:view';

export const changes = ['webhooks', 'webhook', 'deliveries'];
export const followMs = 5_000;

export const readWebhook = (id: string) => data(api.GET('/merchants/me/webhooks/{id}', { params: { path: { id } } }));
export type Subscription = Awaited<ReturnType<typeof readWebhook>>;
