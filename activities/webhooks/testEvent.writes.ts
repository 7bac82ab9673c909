// Sends a test delivery: a new event with sample data and `test: true`, for one subscription only. Everything else is
// as in any other delivery.
import type { Deps } from '../../platform/deps.js';
import type { WorkflowClient } from '../../platform/temporal/workflowClient.js';
import { sampleData } from '../../schemas/events/eventSamples.schema.js';
import type { EventType } from '../../schemas/events/events.schema.js';
import { newId } from '../../schemas/shared/ids.js';
import { newTestEvent } from '../events/newEvent.rules.js';
import { redeliver } from './redeliver.writes.js';
import { readSubscription } from './subscriptions.writes.js';

/** Throws WEBHOOK_NOT_FOUND. */
export async function sendTestEvent(
  deps: Deps & { workflowClient: WorkflowClient },
  at: { merchantId: string; id: string },
): Promise<{ eventId: string; eventType: string }> {
  const subscription = await readSubscription(deps, at);
  const [first = '*'] = subscription.events;
  const type = (first === '*' ? 'points.changed' : first) as EventType;
  const { merchantId } = at;
  const data = { ...sampleData(type, { merchantId, now: deps.now() }), test: true };
  const eventId = newId();
  const event = newTestEvent(deps, { eventId, type, merchantId, subscriptionId: subscription._id, data });
  await deps.collections.events.insertOne(event);
  await redeliver(deps, { event, subscription });
  return { eventId, eventType: type };
}
