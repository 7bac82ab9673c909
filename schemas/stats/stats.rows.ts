// The rows of the overview and of the log of requests, and their indexes.
import type { Stored } from '../shared/answers.js';
import { days, type IndexesOf } from '../shared/indexes.js';
import type { listedRequest } from './requests.schema.js';

/**
 * Counters of one program in one month, by day and name (activities/stats/counting.writes.ts). Never deleted: a program
 * has at most eight rows a month. `programId` is empty for counts that belong to no program.
 */
export interface StatsRow {
  _id: string;
  merchantId: string;
  programId: string;
  /** As `2026-11`, in the time zone of the program. */
  month: string;
  days?: Record<string, Record<string, number>>;
}

/**
 * A request and its answer. The id is `<merchantId>:<number>`, by which only the newest of a merchant are kept
 * (activities/stats/requests.writes.ts).
 */
export interface RequestRow extends Stored<typeof listedRequest, 'errorCode' | 'memberId'> {
  _id: string;
  merchantId: string;
  /** Masked, as is the body (schemas/shared/masking.rules.ts). */
  query?: unknown;
  body?: unknown;
  /** Something of them was left out for its length. */
  isCut?: true;
  idempotencyKey?: string;
  /** The answer was that of an earlier request with the key. */
  isReplayed?: true;
  /** What followed is found by these ids: the ledger entry and the event. */
  transactionId?: string;
  eventId?: string;
}

export interface StatsCollections {
  stats: StatsRow;
  requests: RequestRow;
}

export const statsIndexes: IndexesOf<StatsCollections> = {
  stats: [{ key: { merchantId: 1, month: 1 }, reason: 'the overview of a merchant' }],
  requests: [
    {
      key: { requestId: 1, merchantId: 1, createdAt: -1 },
      reason: 'a request by its id, the newest with the id first',
    },
    { key: { merchantId: 1, createdAt: -1, _id: -1 }, reason: 'the list, newest first' },
    {
      key: { memberId: 1, createdAt: -1, _id: -1 },
      sparse: true,
      reason: 'the requests about a member, also for its export and erasure',
    },
    { key: { createdAt: 1 }, expireAfterSeconds: days(7), reason: 'requests are kept 7 days' },
  ],
};
