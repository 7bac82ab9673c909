// Records the health of a subscription after each attempt. A healthy subscription costs at most one write a minute. A
// response 410, or failures for more than five days without a success, disable the subscription; its later events are
// logged as `skipped` and can be replayed, and the event `webhook.disabled` tells the other subscriptions. A failure is
// not counted when the owner changed the subscription during the attempt.

import type { Deps } from '../../platform/deps.js';
import { isRetryable } from '../../platform/mongodb/conflicts.js';
import { insert, update } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { EventRow, SubscriptionRow } from '../../schemas/collections.js';
import type { DisabledReason } from '../../schemas/events.js';
import { derivedId } from '../../schemas/ids.js';
import { newMerchantEvent } from '../outbox/newEvent.js';
import type { SendResult } from './sendWebhook.js';

const refreshMs = 60_000;
const failingTooLongMs = 5 * 86_400_000;

export async function recordHealth(
  deps: Deps,
  { subscription, result }: { subscription: SubscriptionRow; result: Pick<SendResult, 'ok' | 'error'> },
): Promise<void> {
  const { subscriptions } = deps.collections;
  const { _id, merchantId, health, updatedAt } = subscription;
  const now = deps.now();
  if (result.ok) {
    const fresh = health.lastSuccessAt && now.getTime() - health.lastSuccessAt.getTime() < refreshMs;
    if (fresh && health.consecutiveFailures === 0) return;
    await subscriptions.updateOne(
      { _id, merchantId },
      { $set: { 'health.failingSince': null, 'health.lastSuccessAt': now, 'health.consecutiveFailures': 0 } },
    );
    return;
  }
  const failingSince = health.failingSince ?? now;
  const reason = disableReason(result, now.getTime() - failingSince.getTime());
  const asAttempted = { _id, merchantId, updatedAt, enabled: true };
  const failed = { $inc: { 'health.consecutiveFailures': 1 } };
  if (!reason) {
    await subscriptions.updateOne(asAttempted, { ...failed, $set: { 'health.failingSince': failingSince } });
    return;
  }
  const disabled = { 'health.failingSince': failingSince, enabled: false, 'health.disabledReason': reason };
  try {
    await transact(
      deps,
      [
        update(deps, 'subscriptions', asAttempted, { ...failed, $set: disabled }),
        insert(deps, 'events', disabledEvent(deps, { subscription, reason, failingSince })),
      ],
      1,
    );
  } catch (error) {
    // Another attempt disabled it, or its owner changed it.
    if (isRetryable(error)) return;
    throw error;
  }
  deps.metrics.disabled(reason);
  deps.log.warn({ subscriptionId: _id, merchantId, reason }, 'a subscription was disabled');
}

function disabledEvent(
  deps: Deps,
  { subscription, reason, failingSince }: { subscription: SubscriptionRow; reason: DisabledReason; failingSince: Date },
): EventRow {
  const { _id: subscriptionId, merchantId, url } = subscription;
  return newMerchantEvent(deps, {
    eventId: derivedId('event', 'webhook.disabled', subscriptionId, failingSince.toISOString()),
    event: {
      type: 'webhook.disabled',
      data: { subscriptionId, url, reason, failingSince: failingSince.toISOString() },
    },
    merchantId,
    occurredAt: deps.now(),
    leaseOwner: null,
  });
}

function disableReason(result: Pick<SendResult, 'error'>, failingMs: number): DisabledReason | undefined {
  if (result.error === 'gone') return 'gone';
  return failingMs > failingTooLongMs ? 'failing' : undefined;
}
