// The types of events that a webhook can subscribe to.
import type { components } from '../../sdk/index.js';
import { texts } from '../texts.js';

type EventType = components['schemas']['EventType'];
export type EventChoice = EventType | '*';

/** Every event type must be listed here to compile. */
const listed: Record<EventType, true> = {
  'member.created': true,
  'member.updated': true,
  'member.deleted': true,
  'points.changed': true,
  'reward.redeemed': true,
  'pass.created': true,
  'pass.installed': true,
  'pass.updated': true,
  'pass.removed': true,
  'pass.scanned': true,
  'campaign.sent': true,
  'batch.completed': true,
  'batch.failed': true,
  'webhook.disabled': true,
};

const all = texts.webhooks.allEvents;

export const eventTypes: readonly (readonly [EventChoice, string])[] = [
  ['*', all],
  ...(Object.keys(listed) as EventType[]).map((type) => [type, type] as const),
];

export const eventNames = (events: readonly string[]): string => (events.includes('*') ? all : events.join(', '));
