// The webhook section: the request, headers included, that a subscriber gets for each event type
// (docs/interface.md#6-webhooks-and-events).
import { sampleData } from '../../schemas/events/eventSamples.schema.js';
import { type EventType, envelopeBytes, eventTypes } from '../../schemas/events/events.schema.js';
import { sampleTime, withSample } from './examples.view.js';
import { eventName } from './named.view.js';
import type { Operation } from './operations.view.js';
import type { JsonSchema } from './shapes.view.js';

const meanings: Record<EventType, string> = {
  'member.created': 'A member was enrolled, by any channel',
  'member.updated': 'Names, email, phone, externalId, tags or status of a member changed',
  'member.deleted': 'A member was erased',
  'points.changed': 'A balance was adjusted',
  'reward.redeemed': 'A reward was redeemed',
  'pass.created': 'A wallet pass was built',
  'pass.installed': 'A pass was added to a wallet',
  'pass.updated': 'The content of a pass was pushed or refreshed',
  'pass.removed': 'A pass was removed from a wallet',
  'pass.scanned': 'A pass was scanned at the till',
  'campaign.sent': 'A campaign finished sending',
  'webhook.disabled': 'A subscription was disabled, because its receiver is gone or failed for five days',
  'batch.completed': 'A batch job was completed',
  'batch.failed': 'A batch job failed or was cancelled',
};

interface WebhookHeader {
  name: string;
  description: string;
  example: string;
  required?: boolean;
  schema?: Record<string, unknown>;
}

const headers: WebhookHeader[] = [
  {
    name: 'X-Service-Webhook-Event',
    description: 'The event type.',
    example: 'points.changed',
    schema: { $ref: '#/components/schemas/EventType' },
  },
  {
    name: 'X-Service-Webhook-Timestamp',
    description: 'The time of this attempt. Refuse it when it is more than 5 minutes from now.',
    example: sampleTime,
    schema: { type: 'string', format: 'date-time' },
  },
  {
    name: 'X-Service-Webhook-Subscription',
    description: 'The id of the subscription.',
    example: '5d0a7f1b-0f7e-4b7e-8a39-64f3f1a2b9c0',
  },
  {
    name: 'X-Service-Webhook-Signature',
    description:
      '`sha256=` and the lower-case hex HMAC-SHA256, keyed with the whole secret, of the timestamp header, a dot and the raw body.',
    example: `sha256=${'0f'.repeat(32)}`,
    schema: { type: 'string', pattern: '^sha256=[0-9a-f]{64}$' },
  },
  {
    name: 'webhook-id',
    description: 'Standard Webhooks: the eventId, the same in every retry and replay.',
    example: 'a8e1f7b2-3c61-4a05-9f0d-1c2b7e9d4f33',
  },
  {
    name: 'webhook-timestamp',
    description: 'Standard Webhooks: the time of this attempt in seconds since 1970.',
    example: '1772357400',
    schema: { type: 'string', pattern: '^[0-9]+$' },
  },
  {
    name: 'webhook-signature',
    description: 'Standard Webhooks: one `v1,` entry for each live secret.',
    example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  },
  { name: 'User-Agent', description: 'The sender.', example: 'service-webhook/1.0' },
];

const given = { merchantId: 'demo', now: new Date(sampleTime) };

/** The schemas of events, with the sample of each as its example. */
export function withEventSamples(components: Record<string, JsonSchema>): Record<string, JsonSchema> {
  const envelope: object = JSON.parse(
    envelopeBytes({
      ...{ eventId: 'a8e1f7b2-3c61-4a05-9f0d-1c2b7e9d4f33', merchantId: given.merchantId },
      ...{ type: '', occurredAt: given.now, data: {} },
    }).toString('utf8'),
  );
  const data = eventTypes.map((type) => [`${eventName(type)}Data`, sampleData(type, given)] as const);
  const aboutMember = ['AboutMember', sampleData('member.updated', given)] as const;
  const shown = [['AnyEvent', envelope] as const, aboutMember, ...data].map(([name, sample]) => [
    name,
    withSample(components[name] ?? {}, sample),
  ]);
  return { ...components, ...Object.fromEntries(shown) };
}

/** What a subscriber answers. */
export const receiverAnswers = {
  Accepted: { description: 'Accepted. Any 2xx within `timeoutMs` of the subscription counts.' },
  Gone: { description: 'Gone: the delivery ends and the subscription is disabled.' },
  NotAccepted: { description: 'Not accepted: retried by the `retryPolicy` of the subscription.' },
};

function webhookOf(type: EventType): Record<string, Operation> {
  return {
    post: {
      operationId: `on${eventName(type)}`,
      tags: ['Events'],
      summary: meanings[type],
      security: [],
      parameters: headers.map(({ schema = { type: 'string' }, ...header }) => ({
        in: 'header',
        required: true,
        ...header,
        schema,
      })),
      requestBody: {
        required: true,
        content: { 'application/json': { schema: { $ref: `#/components/schemas/${eventName(type)}Event` } } },
      },
      responses: {
        '2XX': { $ref: '#/components/responses/Accepted' },
        '410': { $ref: '#/components/responses/Gone' },
        default: { $ref: '#/components/responses/NotAccepted' },
      },
    },
  };
}

export const webhookSection = (): Record<string, Record<string, Operation>> =>
  Object.fromEntries(eventTypes.map((type) => [type, webhookOf(type)]));
