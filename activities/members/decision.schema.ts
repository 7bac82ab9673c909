// The decision of a rule about one member. changeMember.writes.ts writes it.
import type { Statement } from '../../platform/mongodb/transaction.js';
import type { MemberEvent } from '../../schemas/events/events.schema.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { LedgerRow } from '../../schemas/points/points.rows.js';
import type { VisitCount } from '../../schemas/points/visits.rules.js';
import type { Platform } from '../../schemas/shared/passUpdate.schema.js';
import type { PushJob } from '../events/newEvent.rules.js';

type WrittenWithEach =
  | '_id'
  | 'merchantId'
  | 'memberId'
  | 'programId'
  | 'eventId'
  | 'fingerprint'
  | 'memberVersion'
  | 'createdAt';

export interface Decision {
  set: Partial<Omit<MemberRow, '_id' | 'merchantId' | 'version' | 'pass'>>;
  unset?: (
    | 'firstName'
    | 'lastName'
    | 'email'
    | 'phone'
    | 'phoneE164'
    | 'externalId'
    | 'tier'
    | 'expiry'
    | 'statusReason'
    | 'lastVisitAt'
    | 'lastRewardAt'
  )[];
  /** The event of the change. Its `data` leaves out the fields that every event about a member has. */
  event: MemberEvent | PushJob;
  /** The pass is pushed although it may show the same as before. A change that it shows is always pushed. */
  push?: true;
  /** The pass is pushed although the program's push messages are off. */
  mandatory?: true;
  /** Appears on the lock screen. Only with `push`. */
  message?: string | undefined;
  /** The Google object is updated although none of the fields that it shows has changed. */
  refresh?: true;
  ledger?: Omit<LedgerRow, WrittenWithEach>;
  /** Only for a reversal: the entry that it reverses. */
  reversed?: LedgerRow;
  /** By how much the change changes the visits that the overview counts. */
  visit?: VisitCount;
  /** Fields of the pass to set in addition to those of its new version. */
  pass?: Partial<Pick<MemberRow['pass'], 'googleSaved' | 'token' | 'authenticationToken'>>;
  /** A line of the timeline to write in the same transaction. */
  timeline?: { type: string; platform?: Platform; detail?: string };
  /** Further statements of the same transaction, such as search words. */
  statements?: Statement[];
  /** Further updates of the same transaction. Each must match one document, otherwise nothing is written. */
  updates?: Statement[];
}
