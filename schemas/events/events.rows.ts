// The rows of events, and their indexes.

import type { Binary } from 'mongodb';
import type { VisitCount } from '../points/visits.rules.js';
import { days, type IndexesOf } from '../shared/indexes.js';
import type { PassUpdate } from '../shared/passUpdate.schema.js';
import type { EventType } from './events.schema.js';

export interface EventRow {
  _id: string;
  merchantId: string;
  /** `pass.push` is no event type: see `internal`. */
  type: EventType | 'pass.push';
  memberId?: string;
  programId?: string;
  occurredAt: Date;
  data: Record<string, unknown>;
  /** Only on a `member.created`, for the counters of the overview. */
  initialPoints?: number;
  /** Only for the counters of the overview: the change corrected a balance, or reversed a correction. */
  corrects?: true;
  /** Only for the counters of the overview. */
  visit?: VisitCount;
  /**
   * What the wallets need before the event can be published: issue the passes, push this version, or refresh Google's
   * copy of the member.
   */
  passAction?: 'issue' | 'push' | 'refresh';
  /** Pushed although the program's push messages are off. */
  mandatory?: true;
  /** For a batch's push to a member: the chunk of targets that counts the result. */
  targetsId?: string;
  /** Recorded once: by the push, or with the change when no push is needed. Absent while it is not known. */
  passUpdate?: PassUpdate | null;
  /**
   * Only while a wallet has not accepted the push: when the workflow that retries it counts as lost
   * (activities/wallets/revivePasses.activity.ts). Each attempt moves it ahead.
   */
  pushDueAt?: Date;
  state: 'new' | 'published';
  /** The lease owner, which processes the event until `dueAt`; from then on the relay may take it. */
  leaseOwner: string;
  /** Identifies one run of the lease owner; a newer run replaces it. */
  fence?: string;
  dueAt: Date;
  shard: number;
  envelope?: Binary;
  publishedAt?: Date;
  /**
   * The number in the merchant's feed: 0 while the event waits for one, absent for an event that is not in the feed
   * (api/events/feed.reads.ts).
   */
  sequence?: number;
  /** A push job (`pass.push`), which subscribers and the feed do not see, or a test event, which is not in the feed. */
  internal?: true;
  /** A test event is delivered to this subscription only. */
  onlySubscriptionId?: string;
  /** The trace context of the request that created the event, when tracing is on. */
  traceparent?: string;
  /**
   * Only on an event about a member who was erased before or after it was published: its data and bytes are empty, and
   * it is no longer delivered.
   */
  erasedAt?: Date;
}

export interface EventCollections {
  events: EventRow;
}

export const eventIndexes: IndexesOf<EventCollections> = {
  events: [
    { key: { state: 1, shard: 1, dueAt: 1 }, reason: 'due events for the relay, oldest first' },
    { key: { merchantId: 1, sequence: 1 }, reason: 'the feed, and events without a number yet' },
    { key: { merchantId: 1, occurredAt: 1, _id: 1 }, reason: 'replay of a range' },
    { key: { pushDueAt: 1 }, sparse: true, reason: 'late pushes whose workflow is lost' },
    { key: { memberId: 1 }, sparse: true, reason: 'the events about a member, for its export and erasure' },
    { key: { occurredAt: 1 }, expireAfterSeconds: days(90), reason: 'the archive is kept 90 days' },
  ],
};
