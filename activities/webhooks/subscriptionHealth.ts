// Records the health of a subscription after each attempt. A healthy subscription costs at most one write a minute. A
// response 410, or failures for more than five days without a success, disable the subscription; its later events are
// logged as `skipped` and can be replayed. A failure is not counted when the owner changed the subscription during the
// attempt.

import type { Deps } from '../../platform/deps.js';
import type { SubscriptionRow } from '../../schemas/collections.js';
import type { DisabledReason } from '../../schemas/webhooks.js';
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
  const { modifiedCount } = await subscriptions.updateOne(
    { _id, merchantId, updatedAt, enabled: true },
    {
      $inc: { 'health.consecutiveFailures': 1 },
      $set: { 'health.failingSince': failingSince, ...(reason && { enabled: false, 'health.disabledReason': reason }) },
    },
  );
  if (!reason || modifiedCount === 0) return;
  deps.metrics.disabled(reason);
  deps.log.warn({ subscriptionId: _id, merchantId, reason }, 'a subscription was disabled');
}

function disableReason(result: Pick<SendResult, 'error'>, failingMs: number): DisabledReason | undefined {
  if (result.error === 'gone') return 'gone';
  return failingMs > failingTooLongMs ? 'failing' : undefined;
}
