// The rows of erasures, and their indexes.
import type { FullName } from '../members/members.rows.js';
import type { IndexesOf } from '../shared/indexes.js';

/**
 * A member that was erased or is being erased; the id is that of the member. The row is kept and contains no personal
 * data.
 */
export interface ErasureRow {
  _id: string;
  merchantId: string;
  programId: string;
  /** Absent while the phones still get the update that voids the pass. */
  erasedAt?: Date;
  /** The values by which the first run finds the remaining data. Removed at its end. */
  person?: { serialNumber: string; values: string[]; names?: FullName[]; tags: string[] };
  /** How many runs have searched all collections. */
  runs: number;
  /** When the workflow counts as lost, or the next run is due. Absent after the last run. */
  dueAt?: Date;
}

/** The code of an erased member, which is never reused; the id is a digest of merchant and code. */
export interface SpentCodeRow {
  _id: string;
  merchantId: string;
}

export interface PersonCollections {
  erasures: ErasureRow;
  spentCodes: SpentCodeRow;
}

export const personIndexes: IndexesOf<PersonCollections> = {
  erasures: [
    { key: { dueAt: 1 }, sparse: true, reason: 'unfinished erasures, longest due first' },
    { key: { erasedAt: 1 }, sparse: true, reason: 'the erasures since a backup' },
  ],
  spentCodes: [],
};
