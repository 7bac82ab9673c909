// The headers of one attempt (docs/interface.md#61-headers). Every attempt has its own time and signatures; only the
// body and the event id stay the same.
import { signService, signStandard } from './signature.rules.js';

export interface WebhookHeadersInput {
  eventType: string;
  eventId: string;
  subscriptionId: string;
  /** The valid secrets, newest first; without a secret the attempt is unsigned. */
  secrets: readonly string[];
  body: Uint8Array;
  /** The time of this attempt, not of the event. */
  now: Date;
}

export function webhookHeaders(input: WebhookHeadersInput): Record<string, string> {
  const timestamp = input.now.toISOString();
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'service-webhook/1.0',
    // The body of the answer is read raw and cut at 16 KB, so it must not be compressed.
    'Accept-Encoding': 'identity',
    'X-Service-Webhook-Event': input.eventType,
    'X-Service-Webhook-Timestamp': timestamp,
    'X-Service-Webhook-Subscription': input.subscriptionId,
  };
  const newest = input.secrets[0];
  if (newest === undefined) return headers;

  const unixSeconds = Math.floor(input.now.getTime() / 1000);
  return {
    ...headers,
    'X-Service-Webhook-Signature': signService(newest, timestamp, input.body),
    'webhook-id': input.eventId,
    'webhook-timestamp': String(unixSeconds),
    'webhook-signature': signStandard(input.secrets, input.eventId, unixSeconds, input.body),
  };
}
