// The effect of a program's expiry rule on the lots of one member (docs/interface.md#36-expiry). The arithmetic of lots
// is in lots.rules.ts.
import { type Expiring, expiryKind } from '../programs/expiry.schema.js';
import { dayIn, midnightAfter } from '../shared/calendar.rules.js';
import {
  addLot,
  expiringOf,
  type Lot,
  type LotChange,
  type LotsAfter,
  removeExpired,
  spend,
  undo,
} from './lots.rules.js';

/** The lots of a member as stored in its row. */
export interface MemberExpiry {
  /** The `expirySince` of the program to which the lots belong. */
  since: Date;
  lots: Lot[];
  /**
   * When the next lot expires, and the slice of all members in which the schedule finds this member. Absent without
   * lots.
   */
  at?: Date;
  slice?: number;
}

/**
 * The number of slices in which the schedule reads members whose points expire, so that each read is small even if all
 * are due.
 */
export const expirySlices = 64;

interface Holder {
  _id: string;
  balance: number;
  expiry?: MemberExpiry;
}

/** When points from `from` expire: at the first midnight after the period of days. */
export function expiresAt({ expiry, timeZone = 'UTC' }: Expiring, from: Date): Date {
  return midnightAfter(timeZone, from, (expiry?.afterDays ?? expiry?.inactiveDays ?? 0) + 1);
}

const isCurrent = ({ expirySince }: Expiring, since: Date | undefined): boolean =>
  since !== undefined && expirySince?.getTime() === since.getTime();

/** The lot of the balance from before the program had its rule; its period starts with the rule. */
const firstLot = (program: Expiring, points: number): Omit<Lot, 'left'> => ({
  id: 0,
  points,
  at: expiresAt(program, program.expirySince ?? new Date(0)),
});

/** Empty in a program without a rule, and in a draft, whose rule does not apply yet. */
export function lotsOf(program: Expiring, { balance, expiry }: Omit<Holder, '_id'>): Lot[] {
  if (!program.expiry || !program.expirySince) return [];
  if (expiry && isCurrent(program, expiry.since)) return expiry.lots;
  return addLot([], firstLot(program, balance)).lots;
}

/** The balance without the points that have expired by `now`. */
export const balanceAt = (program: Expiring, member: Omit<Holder, '_id'>, now: Date): number =>
  removeExpired(lotsOf(program, member), now).changes.reduce((left, { by }) => left + by, member.balance);

/** The lots as stored in the row of a member. */
export function rowOf({ expirySince: since = new Date(0) }: Expiring, memberId: string, lots: Lot[]): MemberExpiry {
  const at = lots[0]?.at;
  return { since, lots, ...(at && { at, slice: Number.parseInt(memberId.slice(0, 2), 16) % expirySlices }) };
}

export interface Changing {
  current: number;
  delta: number;
  /** The member's version after the change. */
  version: number;
  /** The time of the change. */
  at: Date;
  /** The ledger entry that the change reverses. */
  reversed?: { lots?: LotChange[]; createdAt: Date };
}

const later = (one: Date, other: Date | undefined): Date => (other && other > one ? other : one);

/**
 * The lots after a change by a person; undefined in a program without a rule. An expiry date that was already shown to
 * a member never becomes earlier: a rule with fewer days applies only to later points.
 */
export function lotsAfter(program: Expiring, member: Holder, change: Changing): LotsAfter | undefined {
  if (!program.expiry) return undefined;
  const { current, delta, version: id, at: from, reversed } = change;
  const lots = lotsOf(program, member);
  const at = expiresAt(program, from);
  if (expiryKind(program.expiry) === 'inactiveDays')
    return { lots: addLot([], { id, points: current, at: later(at, lots[0]?.at) }).lots, changes: [] };
  if (!reversed) return delta > 0 ? addLot(lots, { id, points: delta, at }) : spend(lots, -delta);
  // A row from before the rule changed points that the rule counts as one lot.
  const isKnown = reversed.lots && program.expirySince && reversed.createdAt >= program.expirySince;
  const changes = isKnown ? reversed.lots : [{ ...firstLot(program, Math.abs(delta)), by: -delta }];
  return undo(lots, changes ?? [], delta);
}

/** The next expiries of a member's points, at most three. */
export const expiringNext = (program: Expiring, member: Omit<Holder, '_id'>) => expiringOf(lotsOf(program, member));

/** The template of a line about an expiry, and the language of its date. */
interface ExpiryWords {
  locale: string;
  until: (points: number, day: string) => string;
}

/** One line for each expiry, with the last valid day in the program's time zone. */
export const expiryLines = (program: Expiring, member: Omit<Holder, '_id'>, words: ExpiryWords): string[] =>
  expiringNext(program, member).map(({ points, at }) => words.until(points, lastDay(program, at, words.locale)));

const lastDay = ({ timeZone = 'UTC' }: Expiring, at: Date, locale: string): string =>
  dayIn(timeZone, new Date(at.getTime() - 1), locale);
