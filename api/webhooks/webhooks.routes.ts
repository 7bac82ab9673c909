// Subscriptions and the delivery log (docs/interface.md#46-webhook-subscriptions).

import { startBatch } from '../../activities/batches/startBatch.effect.js';
import { replayDelivery } from '../../activities/webhooks/redeliver.writes.js';
import { rotateSecret } from '../../activities/webhooks/signingSecrets.writes.js';
import {
  createSubscription,
  deleteSubscription,
  readSubscription,
  updateSubscription,
} from '../../activities/webhooks/subscriptions.writes.js';
import { sendTestEvent } from '../../activities/webhooks/testEvent.writes.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { newId } from '../../schemas/shared/ids.js';
import type { webhookEndpoints } from '../../schemas/webhooks/webhooks.routes.js';
import { presentBatch } from '../batches/batch.view.js';
import { requirePermission } from '../http/caller.reads.js';
import { asAccepted, batchKeyOf, sayRepeated } from '../http/idempotencyKey.js';
import type { Routes } from '../http/request.js';
import { noteFollowed } from '../http/requestLog.js';
import { listDeliveries } from './deliveryLog.reads.js';
import { presentDelivery, presentSubscription } from './subscription.view.js';

export const webhookRoutes: Routes<keyof typeof webhookEndpoints> = {
  async listSubscriptions({ deps, caller, query }) {
    const { page, pageSize, enabled } = query;
    const where = { merchantId: caller.merchantId, ...(enabled !== undefined && { enabled }) };
    // A merchant has at most 20 subscriptions, so all of them are read.
    const rows = await deps.collections.subscriptions.find(where).sort({ createdAt: -1, _id: -1 }).toArray();
    const items = rows.slice((page - 1) * pageSize, page * pageSize).map(presentSubscription);
    return { data: { items, page, pageSize, total: rows.length } };
  },

  async createSubscription({ deps, caller, body }) {
    const { row, secret } = await createSubscription(deps, { merchantId: caller.merchantId, request: body });
    return { data: { ...presentSubscription(row), secret } };
  },

  async listDeliveries({ deps, caller, query }) {
    const { page, pageSize } = query;
    const { items, total } = await listDeliveries(deps, { merchantId: caller.merchantId, ...query });
    return {
      data: { items: items.map(({ delivery, event }) => presentDelivery(delivery, event)), page, pageSize, total },
    };
  },

  async replayDelivery({ deps, caller, params, ctx }) {
    const queued = await replayDelivery(deps, { merchantId: caller.merchantId, id: params.logId ?? '' });
    noteFollowed(ctx, { eventId: queued.eventId });
    return { data: { queued: true, ...queued } };
  },

  async getSubscription({ deps, caller, params }) {
    return {
      data: presentSubscription(await readSubscription(deps, { merchantId: caller.merchantId, id: params.id ?? '' })),
    };
  },

  async updateSubscription({ deps, caller, params, body }) {
    if (body.url !== undefined) requirePermission(caller, 'merchants.members:view');
    const row = await updateSubscription(deps, { merchantId: caller.merchantId, id: params.id ?? '', patch: body });
    return { data: presentSubscription(row) };
  },

  async deleteSubscription({ deps, caller, params }) {
    const id = params.id ?? '';
    await deleteSubscription(deps, { merchantId: caller.merchantId, id });
    return { data: { id, deleted: true } };
  },

  async rotateSecret({ deps, caller, params, body }) {
    const id = params.id ?? '';
    const { secret, previousSecretExpiresAt } = await rotateSecret(deps, {
      merchantId: caller.merchantId,
      id,
      revokePrevious: body?.revokePrevious ?? false,
    });
    return { data: { id, secret, previousSecretExpiresAt: previousSecretExpiresAt.toISOString() } };
  },

  async replayRange({ deps, caller, params, body, ctx }) {
    const { merchantId, actor: startedBy } = caller;
    const subscription = await readSubscription(deps, { merchantId, id: params.id ?? '' });
    const key = batchKeyOf(deps, { ctx, merchantId, operation: 'replay', owner: subscription._id, body });
    const batchId = newId();
    const { since, only } = body;
    const now = deps.now();
    const until = body.until && body.until < now ? body.until : now;
    const row = await startBatch(deps, {
      batch: {
        _id: batchId,
        merchantId,
        kind: 'webhooks.replay',
        subscriptionId: subscription._id,
        startedBy,
        replay: { since, until, only },
      },
      summary: `replay ${only} to ${new URL(subscription.url).host}`.slice(0, 200),
      key,
      check() {
        if (!subscription.enabled)
          throw new ServiceError('VALIDATION_FAILED', [{ path: 'id', message: 'the subscription is disabled' }]);
      },
    });
    sayRepeated(ctx, row._id !== batchId);
    return { status: 202, data: presentBatch(asAccepted(row), now) };
  },

  async testSubscription({ deps, caller, params, ctx }) {
    const queued = await sendTestEvent(deps, { merchantId: caller.merchantId, id: params.id ?? '' });
    noteFollowed(ctx, { eventId: queued.eventId });
    return { data: { queued: true, ...queued } };
  },
};
