// Records the health of a subscription after each attempt. A healthy subscription costs at most one write a second in
// each process. A response 410, or failures for more than five days without a success, disable the subscription; its
// later events are logged as `skipped` and can be replayed, and the event `webhook.disabled` tells the other
// subscriptions. A failure is not counted when the owner changed the subscription during the attempt.

import type { Deps } from '../../platform/deps.js';
import { isRetryable } from '../../platform/mongodb/conflicts.js';
import { insert, update } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import type { DisabledReason } from '../../schemas/events/events.schema.js';
import { derivedId } from '../../schemas/shared/ids.js';
import type { SubscriptionRow } from '../../schemas/webhooks/webhooks.rows.js';
import { newMerchantEvent } from '../events/newEvent.rules.js';
import type { WorkerDeps } from '../workerDeps.js';
import type { SendResult } from './sendWebhook.client.js';

const writeEveryMs = 1_000;
const failingTooLongMs = 5 * 86_400_000;
const asStored = { returnDocument: 'after' } as const;

/** The latest success of each subscription whose write waits. */
const waiting = new WeakMap<WorkerDeps, Map<string, Date>>();

export async function recordHealth(
  deps: WorkerDeps,
  { subscription, result }: { subscription: SubscriptionRow; result: Pick<SendResult, 'ok' | 'error'> },
): Promise<void> {
  const { subscriptions } = deps.collections;
  const { _id, merchantId, health, updatedAt } = subscription;
  const now = deps.now();
  if (result.ok) {
    const fresh = health.lastSuccessAt && now.getTime() - health.lastSuccessAt.getTime() < writeEveryMs;
    if (fresh && health.consecutiveFailures === 0) return writeLater(deps, subscription, now);
    await subscriptions.updateOne(
      { _id, merchantId },
      {
        $set: { 'health.failingSince': null, 'health.consecutiveFailures': 0 },
        $max: { 'health.lastSuccessAt': now },
      },
    );
    return;
  }
  const asAttempted = { _id, merchantId, updatedAt, enabled: true };
  const since = 'health.failingSince';
  const failed = { $inc: { 'health.consecutiveFailures': 1 } };
  // The stored health counts: another attempt may have succeeded since this one began.
  const begins = () =>
    subscriptions.findOneAndUpdate({ ...asAttempted, [since]: null }, { ...failed, $set: { [since]: now } }, asStored);
  const goesOn = () => subscriptions.findOneAndUpdate({ ...asAttempted, [since]: { $ne: null } }, failed, asStored);
  const counted = (await begins()) ?? (await goesOn()) ?? (await begins());
  if (!counted) return;
  const failingSince = counted.health.failingSince ?? now;
  const reason = disableReason(result, now.getTime() - failingSince.getTime());
  if (!reason) return;
  const asCounted = { ...asAttempted, [since]: failingSince, 'health.consecutiveFailures': { $gt: 0 } };
  const disabled = { [since]: failingSince, enabled: false, 'health.disabledReason': reason };
  const where = reason === 'gone' ? asAttempted : asCounted;
  try {
    await transact(
      deps,
      [
        update(deps, 'subscriptions', where, { $set: disabled }),
        insert(deps, 'events', disabledEvent(deps, { subscription, reason, failingSince })),
      ],
      1,
    );
  } catch (error) {
    // Another attempt succeeded or disabled it, or its owner changed it.
    if (isRetryable(error)) return;
    throw error;
  }
  deps.metrics.disabled(reason);
  deps.log.warn({ subscriptionId: _id, merchantId, reason }, 'a subscription was disabled');
}

function writeLater(deps: WorkerDeps, { _id, merchantId }: SubscriptionRow, now: Date): void {
  const latest = waiting.get(deps) ?? new Map<string, Date>();
  waiting.set(deps, latest);
  const isWaiting = latest.has(_id);
  latest.set(_id, now);
  if (isWaiting) return;
  const write = async () => {
    await deps.background.sleep(writeEveryMs, { signal: deps.background.signal });
    const at = latest.get(_id) ?? now;
    latest.delete(_id);
    await deps.collections.subscriptions.updateOne({ _id, merchantId }, { $max: { 'health.lastSuccessAt': at } });
  };
  deps.background.run(
    write().catch((err: unknown) => deps.log.warn({ err, subscriptionId: _id }, 'a success was not recorded')),
  );
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
