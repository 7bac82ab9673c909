// How a subscription is doing. A healthy one costs a write a minute; one that says 410, or fails for five days on end, is
// disabled, and its events leave skipped items that can be replayed. What its owner changed while an attempt was under way
// begins with a clean bill: that attempt's failure says nothing of it.
import type { SubscriptionRow } from '../../schemas/collections.js';
import type { DisabledReason } from '../../schemas/webhooks.js';
import type { Store } from '../deps.js';
import type { SendResult } from './sendWebhook.js';

const refreshMs = 60_000;
const failingTooLongMs = 5 * 86_400_000;

export async function recordHealth(
  store: Store,
  { subscription, result }: { subscription: SubscriptionRow; result: Pick<SendResult, 'ok' | 'error'> },
): Promise<void> {
  const { subscriptions } = store.rows;
  const { _id, merchantId, health, updatedAt } = subscription;
  const now = store.now();
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
  store.metrics.disabled(reason);
  store.log.warn({ subscriptionId: _id, merchantId, reason }, 'a subscription was disabled');
}

function disableReason(result: Pick<SendResult, 'error'>, failingMs: number): DisabledReason | undefined {
  if (result.error === 'gone') return 'gone';
  return failingMs > failingTooLongMs ? 'failing' : undefined;
}
