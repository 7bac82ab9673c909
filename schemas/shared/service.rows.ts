// The rows of the service itself: counters, keys, nonces and probes, and their indexes.

import type { Binary } from 'mongodb';
import { days, type IndexesOf } from './indexes.js';

/**
 * The totals that lists show, maintained where members are created and repaired by a scheduled recount. The row
 * `feed:<merchantId>` has the last number of the merchant's feed; `made:<owner>` counts all inserts under a quota; the
 * `made` of `requests:<merchantId>` is the last number of its log of requests that was taken;
 * `searchWords:<rule>` says when a migration has looked for search words that members lack; `history:<merchantId>` when
 * the demo's history was begun, and by `made` that it is complete.
 */
export interface CounterRow {
  _id: string;
  merchantId: string;
  members?: number;
  sequence?: number;
  made?: number;
  at?: Date;
}

export interface IdempotencyKeyRow {
  _id: string;
  merchantId: string;
  fingerprint: string;
  /** Of a change of a member: its event. */
  eventId?: string;
  /** Of a request that starts a batch. */
  batchId?: string;
  /** Of an enrollment: the member that it made or met. */
  memberId?: string;
  createdAt: Date;
  /** Status and exact bytes of the answer; absent until the answer of the first request is known. */
  response?: { status: number; body: Binary };
}

/**
 * The nonce of a callback from Google, so that a repeated callback counts once
 * (docs/interface.md#104-googles-callback).
 */
export interface NonceRow {
  _id: string;
  receivedAt: Date;
}

/** One row that each probe for writes overwrites, and one with the time of the last backup, which a backup leaves out. */
export interface ProbeRow {
  _id: string;
  at: Date;
}

export const lastBackupId = 'last-backup';

export interface ServiceCollections {
  counters: CounterRow;
  idempotencyKeys: IdempotencyKeyRow;
  nonces: NonceRow;
  probes: ProbeRow;
}

export const serviceIndexes: IndexesOf<ServiceCollections> = {
  counters: [],
  idempotencyKeys: [
    { key: { memberId: 1 }, sparse: true, reason: 'the enrollments of a member, for its export and erasure' },
    { key: { createdAt: 1 }, expireAfterSeconds: days(3), reason: 'keys are kept longer than the 24 hours promised' },
  ],
  nonces: [{ key: { receivedAt: 1 }, expireAfterSeconds: days(30), reason: 'a nonce counts once' }],
  probes: [],
};
