// Which ledger entries are visits. Somebody was at the counter: an earning, points that were added, a redeem. Balances
// of an import, corrections, reversals and expiries are none.
import type { LedgerRow } from './points.rows.js';

/** By how much a change of a balance changes the visits of a day. */
export interface VisitCount {
  day: string;
  all: number;
  returning: number;
}

type Kind = Pick<LedgerRow, 'type' | 'delta' | 'correction'>;

/** A balance that was set to a value, or points that were taken without a reward. */
export const isCorrection = ({ type, delta, correction }: Kind): boolean =>
  type === 'adjust' && (correction === true || delta < 0);

export const isVisit = (entry: Kind): boolean =>
  entry.type === 'earn' ||
  entry.type === 'redeem' ||
  (entry.type === 'adjust' && entry.delta > 0 && !isCorrection(entry));

/** When the change was made at the till. */
export const soldAt = ({ occurredAt, createdAt }: Pick<LedgerRow, 'occurredAt' | 'createdAt'>): Date =>
  occurredAt ?? createdAt;

/** The latest of these moments. */
export const latest = (moments: readonly (Date | undefined)[]): Date | undefined =>
  moments.reduce<Date | undefined>((last, at) => (at && (!last || at > last) ? at : last), undefined);
