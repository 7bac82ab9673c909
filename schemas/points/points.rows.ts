// The rows of the ledger and of expiry, and their indexes.

import type { ExpiryKind } from '../programs/expiry.schema.js';
import type { Stored } from '../shared/answers.js';
import type { IndexesOf } from '../shared/indexes.js';
import type { transaction } from './ledger.schema.js';
import type { LedgerEffect } from './ledgerEffect.rules.js';
import type { LotChange } from './lots.rules.js';

export interface LedgerRow extends Stored<typeof transaction> {
  merchantId: string;
  memberId: string;
  programId: string;
  eventId?: string;
  fingerprint?: string;
  /** The other effects of the change, for its reversal. */
  effect: LedgerEffect;
  /** Only when points expire: the changes of the member's lots. */
  lots?: LotChange[];
  /** Of a change at a till: the device of a reader, counted by its pairings, and the number of the tap, if it counts. */
  till?: { pairing: number; sequence?: number };
  /** Only on earnings: the fields by which limits count them. */
  earning?: { memberId: string; soldAt: Date };
  /** A change of the balance that is neither visit nor spending, or the reversal of one (visits.rules.ts). */
  correction?: true;
  /** Of a visit: its day in the program's time zone. `counted`: the overview counts the day from this entry on. */
  visit?: { day: string; counted?: { returning: boolean } };
  memberVersion: number;
}

/** Since when the points of a program expire; the id is that of the program. */
export interface ExpiryRow {
  _id: string;
  merchantId: string;
  kind: ExpiryKind;
  since: Date;
  /** The part of the members that gets lots next (activities/points/giveLots.activity.ts). */
  next: number;
}

export interface PointCollections {
  ledger: LedgerRow;
  expiries: ExpiryRow;
}

export const pointIndexes: IndexesOf<PointCollections> = {
  ledger: [
    {
      key: { memberId: 1, memberVersion: -1 },
      unique: true,
      reason: 'the ledger of a member, newest first; one row a version',
    },
    {
      key: { 'earning.memberId': 1, 'earning.soldAt': 1 },
      sparse: true,
      reason: 'recent earnings of a member, for the limits of earning',
    },
    {
      key: { memberId: 1, reference: 1, memberVersion: -1 },
      partialFilterExpression: { reference: { $exists: true } },
      reason: "a member's entries with a till's reference, newest first",
    },
  ],
  expiries: [{ key: { merchantId: 1 }, reason: 'when the points of each program of a merchant expire' }],
};
