// The rows of subscriptions and deliveries, and their indexes.

import type { Stored } from '../shared/answers.js';
import { days, type IndexesOf } from '../shared/indexes.js';
import type { delivery, subscription } from './webhooks.schema.js';

export type DeliveryAttempt = DeliveryRow['history'][number];

export interface DeliveryRow extends Omit<Stored<typeof delivery>, 'payload' | 'success'> {
  merchantId: string;
  /** Copied from the event, if it is about a member or a program. */
  memberId?: string;
  programId?: string;
  success: boolean | null;
  detail: string | null;
  /**
   * The queue of an unfinished delivery, and when the delivery is due there
   * (activities/webhooks/deliveryQueue.writes.ts): the id of its subscription, or `own-workflow:<merchantId>` while a
   * workflow makes its attempts. An attempt in progress moves `dueAt` ahead.
   */
  dueGroup?: string;
  dueAt?: Date;
  /** Identifies the current attempt; a newer attempt replaces it. */
  fence: string;
  /**
   * The workflow run and the number of the activity attempt that set the fence. An older attempt of the run never sets
   * it again.
   */
  activityAttempt?: { runId: string; attempt: number };
  /**
   * Only on a replay: the id of the first delivery of the event to this subscription, whether that delivery exists or
   * not. A replay of a replay has the same id. When one of the deliveries with a root succeeds, all of them have.
   */
  root?: string;
}

/** A subscription with deliveries in the queue; the id is that of the subscription. */
export interface WaitingSubscriptionRow {
  _id: string;
  merchantId: string;
  shard: number;
  /** Incremented when deliveries are queued, so that the row is not removed when some were queued in the meantime. */
  marks: number;
}

export interface SubscriptionRow extends Omit<Stored<typeof subscription>, 'health'> {
  merchantId: string;
  /** Newest first, encrypted with SECRETS_KEY; all but the first are valid until `expiresAt`. */
  secrets: { sealed: string; expiresAt?: Date }[];
  health: Omit<Stored<typeof subscription>['health'], 'state'>;
}

export interface WebhookCollections {
  deliveries: DeliveryRow;
  waitingSubscriptions: WaitingSubscriptionRow;
  subscriptions: SubscriptionRow;
}

export const webhookIndexes: IndexesOf<WebhookCollections> = {
  deliveries: [
    { key: { merchantId: 1, createdAt: -1, _id: -1 }, reason: 'the log, newest first' },
    { key: { merchantId: 1, subscriptionId: 1, createdAt: -1, _id: -1 }, reason: 'the log of one subscription' },
    { key: { merchantId: 1, eventType: 1, createdAt: -1, _id: -1 }, reason: 'the log of one event type' },
    {
      key: { merchantId: 1, success: 1, createdAt: -1, _id: -1 },
      reason: 'the log of failed or successful deliveries',
    },
    { key: { eventId: 1 }, reason: 'the log of one event' },
    { key: { memberId: 1, createdAt: -1, _id: -1 }, sparse: true, reason: 'the log of one member' },
    { key: { dueGroup: 1, dueAt: 1 }, sparse: true, reason: 'a queue of deliveries, longest due first' },
    { key: { root: 1 }, sparse: true, reason: 'the outcome of an event in its replays' },
    { key: { createdAt: 1 }, expireAfterSeconds: days(30), reason: 'the log is kept 30 days' },
  ],
  waitingSubscriptions: [{ key: { shard: 1 }, reason: 'subscriptions with queued deliveries' }],
  subscriptions: [
    { key: { merchantId: 1, createdAt: -1, _id: -1 }, reason: 'the list; the receivers of an event' },
    { key: { 'health.failingSince': 1 }, reason: 'subscriptions whose receivers fail, longest first' },
    { key: { 'health.disabledReason': 1 }, sparse: true, reason: 'subscriptions that the service disabled' },
  ],
};
