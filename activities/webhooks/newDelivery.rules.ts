// Builds the row of a delivery before its first attempt: `pending`, or `skipped` when the subscription is disabled.

import type { Deps } from '../../platform/deps.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import { newToken } from '../../schemas/shared/ids.js';
import type { DeliveryRow, SubscriptionRow } from '../../schemas/webhooks/webhooks.rows.js';

export function newDelivery(
  deps: Pick<Deps, 'now'>,
  at: { event: EventRow; subscription: SubscriptionRow; id: string },
): DeliveryRow {
  const { event, subscription, id } = at;
  return {
    _id: id,
    merchantId: event.merchantId,
    subscriptionId: subscription._id,
    eventId: event._id,
    eventType: event.type,
    ...(event.memberId !== undefined && { memberId: event.memberId }),
    ...(event.programId !== undefined && { programId: event.programId }),
    url: subscription.url,
    state: subscription.enabled ? 'pending' : 'skipped',
    success: null,
    statusCode: null,
    error: subscription.enabled ? null : 'disabled',
    detail: null,
    attempts: 0,
    history: [],
    createdAt: deps.now(),
    lastAttemptAt: null,
    nextAttemptAt: null,
    fence: newToken(9),
  };
}
