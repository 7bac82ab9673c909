// Which ledger entries are visits. Somebody was at the counter: an earning, points that were added, a redeem. Balances
// of an import, corrections, reversals and expiries are none.
import { localDay } from '../shared/calendar.rules.js';
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

type Entry = Kind & Pick<LedgerRow, 'occurredAt' | 'createdAt'>;

/** What a member has by these entries, none of which is reversed, and on which days the member came. */
export function visitsOf(entries: readonly Entry[], zone: string) {
  const own = entries.filter(isVisit);
  const last = latest(own.map(soldAt));
  const reward = latest(own.filter(({ type }) => type === 'redeem').map(soldAt));
  const days = new Set(own.map((one) => localDay(zone, soldAt(one))));
  const fields = {
    ...(last && { lastVisitAt: last, visitDays: days.size }),
    ...(reward && { lastRewardAt: reward }),
  };
  return { fields, days };
}
