// The input and the results of one change of one member.

import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { LedgerRow } from '../../schemas/points/points.rows.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import type { PassUpdate } from '../../schemas/shared/passUpdate.schema.js';
import type { IdempotencyKeyRow } from '../../schemas/shared/service.rows.js';
import type { Decision } from './decision.schema.js';

export interface Answer {
  status: number;
  body: Buffer;
}

export interface KeyedChange {
  /** Also the id of the workflow, of the ledger entry and of the row in `idempotencyKeys` (schemas/shared/ids.ts). */
  id: string;
  /** Hash of the request. A request with the same key and another fingerprint is refused. */
  fingerprint: string;
  /** Builds the response; called as soon as `passUpdate` is known. */
  answer: (facts: ChangeFacts, passUpdate: PassUpdate | null) => Answer;
}

/** The facts of a change that its response contains. All of them can be read again from the ledger. */
export interface ChangeFacts {
  memberId: string;
  memberCode: string;
  field: string;
  previous: number;
  current: number;
  /** The ledger entry of the change; absent when the change has none. */
  entry?: LedgerRow;
}

export interface ChangeMember {
  merchantId: string;
  memberId: string;
  keyedChange?: KeyedChange;
  /**
   * Returns the id of the workflow that will process the event, or null to leave the event to the relay. `awaited` is
   * true when the response has to wait for a push.
   */
  chooseLeaseOwner: (eventId: string, awaited: boolean) => string | null;
  /** False while Temporal is known to be unavailable. The change then reports `passUpdate: null`. */
  temporalAvailable: boolean;
  /**
   * May read further rows. Called again after a version conflict, because the data has changed since it was read.
   * `expired` is the entry of the points that expire with this change, before it.
   */
  decide: (member: MemberRow, program: Program, expired?: LedgerRow) => Decision | null | Promise<Decision | null>;
}

export interface Done {
  kind: 'done';
  member: MemberRow;
  program: Program;
  eventId: string;
  /** The workflow that will process the event, or null when the relay will. */
  leaseOwner: string | null;
  facts: ChangeFacts;
  /** Known at once when there is no push; undefined when the result of a push has to be awaited. */
  passUpdate: PassUpdate | null | undefined;
  /** Present when the transaction has stored the answer already. */
  answer?: Answer;
}

export type ChangeResult =
  | Done
  | { kind: 'unchanged'; member: MemberRow; program: Program }
  | { kind: 'answered'; answer: Answer }
  | {
      kind: 'abandoned';
      keyRow: IdempotencyKeyRow;
      facts: ChangeFacts;
      programId: string;
      passUpdate: PassUpdate | null;
    };
