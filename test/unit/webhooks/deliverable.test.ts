// Which deliveries end without an attempt, and how. Retries and the delivery queue both decide it here.
import { describe, expect, it } from 'vitest';
import { deliverable } from '../../../activities/webhooks/closeDelivery.writes.js';
import type { EventRow } from '../../../schemas/events/events.rows.js';
import type { SubscriptionRow } from '../../../schemas/webhooks/webhooks.rows.js';

const subscription = { _id: 'hook', enabled: true } as SubscriptionRow;
const disabled = { ...subscription, enabled: false };
const event = { _id: 'event' } as EventRow;
const erased = { ...event, erasedAt: new Date() };

describe('a delivery', () => {
  it.each([
    ['subscription was deleted', null, event, { state: 'exhausted', error: 'deleted' }],
    ['event is no longer stored', subscription, null, { state: 'exhausted', error: 'deleted' }],
    ['member was erased', subscription, erased, { state: 'exhausted', error: 'erased' }],
    ['member was erased and subscription is disabled', disabled, erased, { state: 'exhausted', error: 'erased' }],
    ['subscription is disabled', disabled, event, { state: 'skipped', error: 'disabled' }],
  ])('whose %s ends without an attempt', (_title, to, of, ending) => {
    expect(deliverable(to, of)).toEqual({ ending });
  });

  it('is made in every other case', () => {
    expect(deliverable(subscription, event)).toEqual({ subscription, event });
  });
});
