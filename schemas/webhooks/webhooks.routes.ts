// Endpoints: docs/interface.md#46-webhook-subscriptions.
import { z } from 'zod';
import { endpoint, page, pageOf, pageSize, queryFlag } from '../access/endpoint.schema.js';
import { batch } from '../batches/batches.schema.js';
import { moment } from '../shared/calendar.rules.js';
import { idText, text } from '../shared/text.js';
import * as webhooks from './webhooks.schema.js';

const tag = 'Webhooks';
const all = '/merchants/me/webhooks';
const one = `${all}/:id`;

/** A caller that chooses where personal data goes must be allowed to read it. */
const readsMembers = 'merchants.members:view';

export const webhookEndpoints = {
  listSubscriptions: endpoint('get', all, {
    tag,
    summary: 'List subscriptions, without secrets',
    access: 'merchants.campaigns:view',
    query: z.strictObject({ page, pageSize, enabled: queryFlag.optional() }),
    result: pageOf(webhooks.subscription),
  }),
  createSubscription: endpoint('post', all, {
    tag,
    summary: 'Subscribe an endpoint',
    description: 'The secret is in this answer and in that of rotate-secret, nowhere else.',
    access: 'merchants.campaigns:create',
    alsoAccess: readsMembers,
    audit: { action: 'webhook.create', writes: ['subscriptions'] },
    body: webhooks.subscriptionRequest,
    result: webhooks.subscriptionWithSecret,
    statuses: [201],
    errors: ['WEBHOOK_URL_FORBIDDEN', 'WEBHOOK_LIMIT_REACHED'],
    example: { url: 'https://example.com/webhooks', events: ['points.changed', 'reward.redeemed'] },
  }),
  listDeliveries: endpoint('get', `${all}/delivery-logs`, {
    tag,
    summary: 'Delivery log, newest first',
    access: 'merchants.campaigns:view',
    query: z.strictObject({
      page,
      pageSize,
      subscriptionId: idText().optional(),
      eventType: text(1, 64).optional(),
      success: queryFlag.optional(),
      eventId: idText().optional(),
      memberId: idText().optional(),
      since: moment.optional().describe('created then or later'),
      until: moment.optional().describe('created before'),
    }),
    result: pageOf(webhooks.delivery),
  }),
  replayDelivery: endpoint('post', `${all}/delivery-logs/:logId/replay`, {
    tag,
    summary: 'Deliver again, with the original eventId and bytes',
    access: 'merchants.campaigns:edit',
    alsoAccess: readsMembers,
    audit: { action: 'delivery.replay', writes: ['deliveries'], target: 'logId' },
    result: webhooks.queued,
    errors: ['DELIVERY_NOT_FOUND'],
  }),
  getSubscription: endpoint('get', one, {
    tag,
    summary: 'Read one subscription, without its secret',
    access: 'merchants.campaigns:view',
    result: webhooks.subscription,
    errors: ['WEBHOOK_NOT_FOUND'],
  }),
  updateSubscription: endpoint('patch', one, {
    tag,
    summary: 'Change a subscription',
    description: 'A new `url` also needs `merchants.members:view`.',
    access: 'merchants.campaigns:edit',
    audit: { action: 'webhook.edit', writes: ['subscriptions'] },
    body: webhooks.subscriptionPatch,
    result: webhooks.subscription,
    errors: ['WEBHOOK_NOT_FOUND', 'WEBHOOK_URL_FORBIDDEN'],
    example: { enabled: false },
  }),
  deleteSubscription: endpoint('delete', one, {
    tag,
    summary: 'Delete a subscription',
    access: 'merchants.campaigns:delete',
    audit: { action: 'webhook.delete', writes: ['subscriptions'] },
    result: z.object({ id: z.string(), deleted: z.literal(true) }),
    errors: ['WEBHOOK_NOT_FOUND'],
  }),
  rotateSecret: endpoint('post', `${one}/rotate-secret`, {
    tag,
    summary: 'Create a new secret; the old one also signs for 24 hours, or is revoked at once',
    description:
      'With `revokePrevious: true` every older secret ends at once, for a secret that has leaked; receivers refuse deliveries until they have the new one.',
    access: 'merchants.campaigns:edit',
    alsoAccess: readsMembers,
    audit: { action: 'webhook.rotate-secret', writes: ['subscriptions'] },
    body: webhooks.secretRotation,
    bodyOptional: true,
    example: { revokePrevious: true },
    result: z.object({ id: z.string(), secret: z.string(), previousSecretExpiresAt: z.iso.datetime() }),
    errors: ['WEBHOOK_NOT_FOUND'],
  }),
  replayRange: endpoint('post', `${one}/replay`, {
    tag,
    summary: 'Send the events of a period again, with their eventIds and bytes',
    description:
      'Goes on as a batch, at a bounded rate: `GET /merchants/me/batches/{id}` shows how far it is (`created` counts what was delivered at its first attempt, `deduped` what was skipped, `failed` what is retried or given up), `POST /merchants/me/batches/{id}/cancel` ends it. A disabled subscription is refused: enable it first. 503 UNAVAILABLE means that nothing is sent.',
    access: 'merchants.campaigns:edit',
    alsoAccess: readsMembers,
    audit: { action: 'webhook.replay', writes: ['batches'], target: 'id' },
    idempotent: true,
    body: webhooks.replayRequest,
    result: batch,
    statuses: [202],
    errors: ['WEBHOOK_NOT_FOUND'],
    example: { since: '2026-11-20T00:00:00Z', only: 'failed' },
  }),
  testSubscription: endpoint('post', `${one}/test`, {
    tag,
    summary: 'Deliver a test event for real',
    access: 'merchants.campaigns:edit',
    audit: { action: 'webhook.test', writes: ['deliveries'], target: 'id' },
    result: webhooks.queued,
    errors: ['WEBHOOK_NOT_FOUND'],
  }),
};
