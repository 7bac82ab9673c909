// Starts the workflow that makes the attempts of one delivery: retries, replays and tests.

import type { Deps } from '../../platform/deps.js';
import type { WorkflowClient } from '../../platform/temporal/workflowClient.js';
import type { DeliveryRow, SubscriptionRow } from '../../schemas/collections.js';
import { deliveryWorkflowId } from '../../schemas/ids.js';

export interface StartDeliveryWorkflow {
  delivery: DeliveryRow;
  subscription: SubscriptionRow;
  waitMs: number;
  attempts: number;
  suffix?: string;
}

/** Operators find the workflow by event, subscription and status. */
export async function startDeliveryWorkflow(
  deps: Pick<Deps, 'now' | 'crashPoint'> & { workflowClient: WorkflowClient },
  retry: StartDeliveryWorkflow,
): Promise<void> {
  const { delivery, subscription, waitMs, attempts, suffix } = retry;
  const { eventId, subscriptionId, merchantId, eventType } = delivery;
  deps.crashPoint('before-workflow-start');
  await deps.workflowClient.start({
    name: 'deliverWebhook',
    workflowId: deliveryWorkflowId(eventId, subscriptionId, suffix),
    input: {
      deliveryId: delivery._id,
      eventId,
      subscriptionId,
      merchantId,
      notBefore: deps.now().getTime() + waitMs,
      attempts: Math.max(attempts, 1),
      backoffMs: subscription.retryPolicy.backoffMs,
    },
    summary: `${eventType} to ${new URL(subscription.url).host}`.slice(0, 200),
    searchAttributes: {
      MerchantId: merchantId,
      SubscriptionId: subscriptionId,
      EventId: eventId,
      EventType: eventType,
    },
    priority: 4,
    fairnessKey: merchantId,
  });
  deps.crashPoint('after-workflow-start');
}
