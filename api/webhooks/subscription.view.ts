// Subscriptions and deliveries as callers see them: without secrets, and with the personal fields of payloads masked.
import type { z } from 'zod';
import type { EventRow } from '../../schemas/events/events.rows.js';
import { maskPersonal } from '../../schemas/shared/masking.rules.js';
import type { DeliveryRow, SubscriptionRow } from '../../schemas/webhooks/webhooks.rows.js';
import type { delivery, subscription } from '../../schemas/webhooks/webhooks.schema.js';

function healthOf({ enabled, health }: SubscriptionRow): z.input<typeof subscription>['health'] {
  const failing = health.consecutiveFailures > 0 ? 'failing' : 'ok';
  return {
    state: enabled ? failing : 'disabled',
    failingSince: health.failingSince?.toISOString() ?? null,
    lastSuccessAt: health.lastSuccessAt?.toISOString() ?? null,
    consecutiveFailures: health.consecutiveFailures,
    ...(health.disabledReason && { disabledReason: health.disabledReason }),
  };
}

export function presentSubscription(row: SubscriptionRow): z.input<typeof subscription> {
  const { _id: id, name, description, url, events, enabled, timeoutMs, retryPolicy, createdAt, updatedAt } = row;
  return {
    id,
    name,
    description,
    url,
    events,
    enabled,
    timeoutMs,
    retryPolicy: { factor: 1, ...retryPolicy },
    health: healthOf(row),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

function maskedPayload(event: EventRow | undefined): Record<string, unknown> | null {
  if (!event?.envelope || event.erasedAt) return null;
  const envelope: unknown = JSON.parse(Buffer.from(event.envelope.buffer).toString('utf8'));
  return maskPersonal(envelope) as Record<string, unknown>;
}

export function presentDelivery(row: DeliveryRow, event: EventRow | undefined): z.input<typeof delivery> {
  return {
    id: row._id,
    subscriptionId: row.subscriptionId,
    eventType: row.eventType,
    eventId: row.eventId,
    url: row.url,
    state: row.state,
    success: row.success === true,
    statusCode: row.statusCode,
    error: row.error,
    attempts: row.attempts,
    history: row.history.map(({ attempt, at, statusCode, error, durationMs }) => ({
      attempt,
      at: at.toISOString(),
      statusCode,
      error,
      durationMs,
    })),
    payload: maskedPayload(event),
    createdAt: row.createdAt.toISOString(),
    lastAttemptAt: row.lastAttemptAt?.toISOString() ?? null,
    nextAttemptAt: row.nextAttemptAt?.toISOString() ?? null,
    ...(row.replayOf && { replayOf: row.replayOf }),
  };
}
