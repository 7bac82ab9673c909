// A test delivery is real in everything but its data: an event of its own, for one subscription alone, with `test: true`.
import { Binary } from 'mongodb';
import type { EventRow } from '../../schemas/collections.js';
import { sampleData } from '../../schemas/eventSamples.js';
import { type EventType, envelopeBytes, shardOf } from '../../schemas/events.js';
import { newId } from '../../schemas/ids.js';
import type { Store } from '../deps.js';
import type { Starter } from '../starter.js';
import { deliverAgain } from './deliveries.js';
import { readSubscription } from './subscriptions.js';

/** Throws WEBHOOK_NOT_FOUND. */
export async function sendTestEvent(
  deps: Store & { starter: Starter },
  at: { merchantId: string; id: string },
): Promise<{ eventId: string; eventType: string }> {
  const subscription = await readSubscription(deps, at);
  const [first = '*'] = subscription.events;
  const type = (first === '*' ? 'points.changed' : first) as EventType;
  const now = deps.now();
  const data = { ...sampleData(type, { merchantId: at.merchantId, now }), test: true };
  const eventId = newId();
  const event: EventRow = {
    _id: eventId,
    merchantId: at.merchantId,
    type,
    occurredAt: now,
    data,
    state: 'published',
    silent: true,
    holder: '',
    dueAt: now,
    shard: shardOf(at.merchantId, deps.config.RELAY_SHARDS),
    onlySubscriptionId: subscription._id,
    envelope: new Binary(envelopeBytes({ eventId, merchantId: at.merchantId, type, occurredAt: now, data })),
    publishedAt: now,
  };
  await deps.rows.events.insertOne(event);
  await deliverAgain(deps, { event, subscription });
  return { eventId, eventType: type };
}
