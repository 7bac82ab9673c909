// Sends an event to one subscription again, as a new delivery. The event, its bytes and its `eventId` stay the same.

import type { Deps } from '../../platform/deps.js';
import { insert } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { WorkflowClient } from '../../platform/temporal/workflowClient.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { newId } from '../../schemas/shared/ids.js';
import type { DeliveryRow, SubscriptionRow } from '../../schemas/webhooks/webhooks.rows.js';
import { leftToWorkflow } from './deliveryQueue.writes.js';
import { newDelivery } from './newDelivery.rules.js';
import { startDeliveryWorkflow } from './startDeliveryWorkflow.effect.js';

type RedeliveryDeps = Deps & { workflowClient: WorkflowClient };

/**
 * Creates a new delivery of a published event and starts its workflow, which makes all attempts. The delivery to a
 * disabled subscription is only logged, as `skipped`. Throws UNAVAILABLE when the workflow cannot be started. The
 * delivery is then removed from the log, so that an answer of 503 means that nothing will be sent.
 */
export async function redeliver(
  deps: RedeliveryDeps,
  { event, subscription, replayed }: { event: EventRow; subscription: SubscriptionRow; replayed?: DeliveryRow },
): Promise<void> {
  const id = newId();
  const delivery = {
    ...newDelivery(deps, { event, subscription, id }),
    ...(replayed && { replayOf: replayed._id, root: replayed.root ?? replayed._id }),
  };
  const isOver = delivery.state === 'skipped';
  await transact(
    deps,
    [insert(deps, 'deliveries', { ...delivery, ...(!isOver && leftToWorkflow(deps, delivery)) })],
    0,
  );
  if (isOver) return;
  try {
    await startDeliveryWorkflow(deps, { delivery, subscription });
  } catch (error) {
    deps.log.warn({ err: error, deliveryId: id }, 'a delivery could not be queued');
    await deps.collections.deliveries.deleteOne({ _id: id, state: 'pending', attempts: 0 });
    throw new ServiceError('UNAVAILABLE');
  }
}

/** Throws DELIVERY_NOT_FOUND. */
export async function replayDelivery(
  deps: RedeliveryDeps,
  at: { merchantId: string; id: string },
): Promise<{ eventId: string; eventType: string }> {
  const delivery = await deps.collections.deliveries.findOne({ _id: at.id, merchantId: at.merchantId });
  if (!delivery) throw new ServiceError('DELIVERY_NOT_FOUND');
  const [event, subscription] = await Promise.all([
    deps.collections.events.findOne({ _id: delivery.eventId, merchantId: at.merchantId }),
    deps.collections.subscriptions.findOne({ _id: delivery.subscriptionId, merchantId: at.merchantId }),
  ]);
  if (!event?.envelope || event.erasedAt || !subscription) throw new ServiceError('DELIVERY_NOT_FOUND');
  await redeliver(deps, { event, subscription, replayed: delivery });
  return { eventId: event._id, eventType: event.type };
}
