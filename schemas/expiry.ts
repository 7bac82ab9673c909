// The expiry rule of a program, and what it means for the lots of one member (docs/interface.md#36-expiry). The
// arithmetic of lots is in lots.ts.
import { z } from 'zod';
import { dayIn, midnightAfter } from './calendar.js';
import { addLot, expiringOf, type Lot, type LotChange, type LotsAfter, spend, undo } from './lots.js';

/** Ten years. */
const days = z.int().min(1).max(3_650);

export const expiryRule = z.strictObject({
  afterDays: days.optional().describe('each increase expires so many calendar days later'),
  inactiveDays: days.optional().describe('everything expires so many calendar days after the last change by a person'),
});
export type ExpiryRule = z.output<typeof expiryRule>;

export function* expiryMistakes({ expiry }: { expiry?: ExpiryRule | undefined }) {
  if (expiry && (expiry.afterDays === undefined) === (expiry.inactiveDays === undefined))
    yield { path: ['expiry'], message: 'needs exactly one of afterDays and inactiveDays' };
}

export type ExpiryKind = 'afterDays' | 'inactiveDays';
export const expiryKind = ({ afterDays }: ExpiryRule): ExpiryKind =>
  afterDays === undefined ? 'inactiveDays' : 'afterDays';

/** What of a program matters to expiry. */
export interface Expiring {
  expiry?: ExpiryRule | undefined;
  timeZone?: string | undefined;
  /** Since when the program has a rule of this kind; present when it has one. */
  expirySince?: Date;
}

/** The lots of a member, as its row holds them. */
export interface MemberExpiry {
  /** The program's `expirySince` that the lots count for. */
  since: Date;
  lots: Lot[];
  /** When the next lot expires, and in which slice of all members the schedule finds this one. Absent without lots. */
  at?: Date;
  slice?: number;
}

/** In so many parts the schedule reads the members whose points expire: each part is small, also when all are due. */
export const expirySlices = 64;

interface Holder {
  _id: string;
  balance: number;
  expiry?: MemberExpiry;
}

/** When what was there, or happened, at `from` expires: the first midnight after the days are over. */
export function expiresAt({ expiry, timeZone = 'UTC' }: Expiring, from: Date): Date {
  return midnightAfter(timeZone, from, (expiry?.afterDays ?? expiry?.inactiveDays ?? 0) + 1);
}

const isCurrent = ({ expirySince }: Expiring, since: Date | undefined): boolean =>
  since !== undefined && expirySince?.getTime() === since.getTime();

/** What was there when the program gained its rule; it counts from that moment. */
const firstLot = (program: Expiring, points: number): Omit<Lot, 'left'> => ({
  id: 0,
  points,
  at: expiresAt(program, program.expirySince ?? new Date(0)),
});

/** Empty in a program without a rule, and in a draft, whose rule does not count yet. */
export function lotsOf(program: Expiring, { balance, expiry }: Omit<Holder, '_id'>): Lot[] {
  if (!program.expiry || !program.expirySince) return [];
  if (expiry && isCurrent(program, expiry.since)) return expiry.lots;
  return addLot([], firstLot(program, balance)).lots;
}

/** The lots as the row of a member holds them. */
export function rowOf({ expirySince: since = new Date(0) }: Expiring, memberId: string, lots: Lot[]): MemberExpiry {
  const at = lots[0]?.at;
  return { since, lots, ...(at && { at, slice: Number.parseInt(memberId.slice(0, 2), 16) % expirySlices }) };
}

export interface Changing {
  current: number;
  delta: number;
  /** The member's version after the change. */
  version: number;
  /** When the change happened. */
  at: Date;
  /** The ledger row that the change reverses. */
  reversed?: { lots?: LotChange[]; createdAt: Date };
}

const later = (one: Date, other: Date | undefined): Date => (other && other > one ? other : one);

/**
 * The lots after a change by a person; undefined in a program without a rule. A moment that a member was told does not
 * come nearer: a rule with fewer days holds for what comes after it.
 */
export function lotsAfter(program: Expiring, member: Holder, change: Changing): LotsAfter | undefined {
  if (!program.expiry) return undefined;
  const { current, delta, version: id, at: from, reversed } = change;
  const lots = lotsOf(program, member);
  const at = expiresAt(program, from);
  if (expiryKind(program.expiry) === 'inactiveDays')
    return { lots: addLot([], { id, points: current, at: later(at, lots[0]?.at) }).lots, changes: [] };
  if (!reversed) return delta > 0 ? addLot(lots, { id, points: delta, at }) : spend(lots, -delta);
  // A row from before the rule took from, or added to, what the rule counts as one lot.
  const isKnown = reversed.lots && program.expirySince && reversed.createdAt >= program.expirySince;
  const changes = isKnown ? reversed.lots : [{ ...firstLot(program, Math.abs(delta)), by: -delta }];
  return undo(lots, changes ?? [], delta);
}

/** What of a member's points expires next, at most three moments. */
export const expiringNext = (program: Expiring, member: Omit<Holder, '_id'>) => expiringOf(lotsOf(program, member));

/** How a line about what expires is written, and in which language its day. */
interface ExpiryWords {
  locale: string;
  until: (points: number, day: string) => string;
}
const onPasses: ExpiryWords = { locale: 'en-GB', until: (points, day) => `${points} until ${day}` };

/** One line for each moment, naming the last day in the program's time zone. */
export const expiryLines = (program: Expiring, member: Omit<Holder, '_id'>, words = onPasses): string[] =>
  expiringNext(program, member).map(({ points, at }) => words.until(points, lastDay(program, at, words.locale)));

const lastDay = ({ timeZone = 'UTC' }: Expiring, at: Date, locale: string): string =>
  dayIn(timeZone, new Date(at.getTime() - 1), locale);
