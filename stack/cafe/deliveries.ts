// The webhooks of the demo's café: its subscription, and the deliveries of the hour in which its receiver failed.
import { ApplicationFailure } from '@temporalio/common';
import { LeaseLost } from '../../activities/events/leaseRenewal.writes.js';
import { leaseEvents, newFence } from '../../activities/events/leases.writes.js';
import { serialiseEnvelopes } from '../../activities/events/serialiseEnvelopes.writes.js';
import { pushLeased } from '../../activities/wallets/pushPasses.activity.js';
import { findOpenDeliveries } from '../../activities/webhooks/openDeliveries.writes.js';
import { postWebhook } from '../../activities/webhooks/postWebhook.activity.js';
import { makeFirstAttempts } from '../../activities/webhooks/publishEvents.activity.js';
import { createSubscription } from '../../activities/webhooks/subscriptions.writes.js';
import type { WorkerDeps } from '../../activities/workerDeps.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { firstDeliveryId } from '../../schemas/shared/ids.js';
import { subscriptionRequest } from '../../schemas/webhooks/webhooks.schema.js';
import { atTime, leaseOwner, type Told } from './clock.js';

const attempts = 4;

interface Orders {
  merchantId: string;
  url: string;
}

/** Subscribes the café's order system once. Without the right to call this machine there is none. */
export async function subscribeOrders(deps: WorkerDeps, { merchantId, url }: Orders): Promise<void> {
  if (await deps.collections.subscriptions.findOne({ merchantId, url }, { projection: { _id: 1 } })) return;
  const request = subscriptionRequest.parse({
    url,
    name: 'Order system',
    description: 'The receiver of the demo, on this machine.',
    events: ['member.created', 'points.changed', 'reward.redeemed'],
    retryPolicy: { maxAttempts: attempts, backoffMs: 60_000, factor: 4 },
  });
  try {
    await createSubscription(deps, { merchantId, request });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'WEBHOOK_URL_FORBIDDEN') throw error;
  }
}

/**
 * Makes the attempts of events whose receiver fails, each at its time. The relay would leave them to its queue, and
 * workflows would make the later attempts, both by the clock of today.
 */
export async function deliverBadHour(deps: WorkerDeps, { told, ...orders }: Orders & { told: Told[] }): Promise<void> {
  for (const { eventId, at } of told) {
    const then = atTime(deps, at);
    const fence = newFence();
    const events = await leaseEvents(then, { leaseOwner, eventIds: [eventId], fence });
    await pushLeased(then, { leaseOwner, events });
    const open = await findOpenDeliveries(then, await serialiseEnvelopes(then, events));
    await makeFirstAttempts(
      then,
      open.map((one) => ({ ...one, startsInQueue: false })),
      { checkLease: async () => undefined, cancellationSignal: undefined },
    );
    await deps.markPublished({ leaseOwner, fence, events });
  }
  const eventIds = told.map(({ eventId }) => eventId);
  const subscription = await deps.collections.subscriptions.findOne(orders, { projection: { _id: 1 } });
  const ids = eventIds.map((eventId) => firstDeliveryId(eventId, subscription?._id ?? ''));
  const waiting = () => deps.collections.deliveries.find({ _id: { $in: ids }, state: 'retrying' }).toArray();
  for (let open = await waiting(); open.length > 0; open = await waiting()) {
    for (const { _id, attempts: made, nextAttemptAt } of open) {
      const then = atTime(deps, nextAttemptAt ?? deps.now());
      const activityAttempt = { runId: `cafe:${newFence()}`, attempt: 1 };
      await postWebhook(then, {
        ...{ deliveryId: _id, attemptsLeft: attempts - made, activityAttempt },
        ...{ attemptsAtStart: undefined, saveAttemptsAtStart: () => undefined },
      }).catch((error: unknown) => {
        // A failed attempt, or one that a worker made since: it takes a delivery for lost whose time has passed.
        if (!(error instanceof ApplicationFailure || error instanceof LeaseLost)) throw error;
      });
    }
  }
}
