// Subscriptions and deliveries as callers see them: without secrets, and with the personal fields of payloads masked.
import type { EventRow } from '../../schemas/events/events.rows.js';
import { shown } from '../../schemas/shared/answers.js';
import { maskPersonal } from '../../schemas/shared/masking.rules.js';
import type { DeliveryRow, SubscriptionRow } from '../../schemas/webhooks/webhooks.rows.js';
import { delivery, subscription } from '../../schemas/webhooks/webhooks.schema.js';

export function presentSubscription(row: SubscriptionRow) {
  const failing = row.health.consecutiveFailures > 0 ? ('failing' as const) : ('ok' as const);
  return shown(subscription, row, { health: { ...row.health, state: row.enabled ? failing : 'disabled' } });
}

function maskedPayload(event: EventRow | undefined): Record<string, unknown> | null {
  if (!event?.envelope || event.erasedAt) return null;
  const envelope: unknown = JSON.parse(Buffer.from(event.envelope.buffer).toString('utf8'));
  return maskPersonal(envelope) as Record<string, unknown>;
}

export const presentDelivery = (row: DeliveryRow, event: EventRow | undefined) =>
  shown(delivery, row, { success: row.success === true, payload: maskedPayload(event) });
