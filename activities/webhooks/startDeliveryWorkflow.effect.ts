// Starts the workflow that makes the attempts of one delivery: retries, replays and tests.

import type { Deps } from '../../platform/deps.js';
import type { WorkflowClient } from '../../platform/temporal/workflowClient.js';
import { deliveryWorkflowId, firstDeliveryId } from '../../schemas/shared/ids.js';
import type { DeliveryRow, SubscriptionRow } from '../../schemas/webhooks/webhooks.rows.js';

export interface StartDeliveryWorkflow {
  delivery: DeliveryRow;
  subscription: SubscriptionRow;
}

/** False for replays and tests: a workflow makes all their attempts. */
const isFirstDelivery = ({ _id, eventId, subscriptionId }: DeliveryRow): boolean =>
  _id === firstDeliveryId(eventId, subscriptionId);

/** Temporal's clock may be behind this one; the workflow would set a timer for what is left. */
const clockMarginMs = 20;

/** Changes nothing while the workflow runs. Operators find the workflow by event, subscription and status. */
export async function startDeliveryWorkflow(
  deps: Pick<Deps, 'now' | 'crashPoint'> & { workflowClient: WorkflowClient },
  { delivery, subscription }: StartDeliveryWorkflow,
): Promise<void> {
  const { eventId, subscriptionId, merchantId, eventType, attempts: attemptsMade, nextAttemptAt } = delivery;
  const { maxAttempts, backoffMs } = subscription.retryPolicy;
  const now = deps.now();
  const notBefore = (nextAttemptAt ?? now).getTime();
  const waitMs = notBefore - now.getTime();
  deps.crashPoint('before-workflow-start');
  await deps.workflowClient.start({
    name: 'deliverWebhook',
    workflowId: deliveryWorkflowId(eventId, subscriptionId, isFirstDelivery(delivery) ? undefined : delivery._id),
    input: {
      deliveryId: delivery._id,
      eventId,
      subscriptionId,
      merchantId,
      notBefore,
      attemptsLeft: Math.max(maxAttempts - attemptsMade, 1),
      attemptsMade,
      backoffMs,
    },
    summary: `${eventType} to ${new URL(subscription.url).host}`.slice(0, 200),
    searchAttributes: {
      MerchantId: merchantId,
      SubscriptionId: subscriptionId,
      EventId: eventId,
      EventType: eventType,
    },
    ...(waitMs > 0 && { startDelayMs: waitMs + clockMarginMs }),
    priority: 4,
    fairnessKey: merchantId,
  });
  deps.crashPoint('after-workflow-start');
}
