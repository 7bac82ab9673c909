// The usual setup of an engine test: a service, a merchant, and a receiver that is subscribed to the merchant's events.

import { type Receiver, startReceiver } from '../standins/receiver.js';
import { aMerchant, type TestMerchant } from './merchant.js';
import { type ServiceOptions, startService, type TestService } from './service.js';

export interface SubscribedService {
  service: TestService;
  merchant: TestMerchant;
  receiver: Receiver;
  subscriptionId: string;
  /** The secret of the subscription. */
  secret: string;
  /** The envelopes that arrived so far; with `memberId` only those about this member. */
  // biome-ignore lint/suspicious/noExplicitAny: what is expected of them is the tests' business.
  envelopes: (memberId?: string) => any[];
  stop: () => Promise<void>;
}

export async function startSubscribedService(
  events: string[],
  fields: { retryPolicy?: { maxAttempts: number; backoffMs: number } } = {},
  options: ServiceOptions = {},
): Promise<SubscribedService> {
  const service = await startService(options);
  const merchant = await aMerchant(service);
  const receiver = await startReceiver();
  const { body } = await merchant.call('/merchants/me/webhooks', { body: { url: receiver.url, events, ...fields } });
  return {
    service,
    merchant,
    receiver,
    subscriptionId: body.data.id,
    secret: body.data.secret,
    envelopes: (memberId) =>
      receiver.requests
        .map((request) => JSON.parse(request.body.toString('utf8')))
        .filter(({ data }) => memberId === undefined || data.memberId === memberId),
    async stop() {
      await service.stop();
      await receiver.stop();
    },
  };
}
