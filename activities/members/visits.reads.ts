// What a change of a balance means for the visits of its member: the fields of the member, the day of the ledger entry,
// and what the overview counts. A member counts once a day. Only sales that arrive late, and reversals, read the
// ledger, and a change of a member whom an older version of the service wrote; the version of the member guards what was
// read.
import type { Deps } from '../../platform/deps.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { reversible } from '../../schemas/points/ledger.schema.js';
import type { LedgerRow } from '../../schemas/points/points.rows.js';
import { isVisit, latest, visitsOf } from '../../schemas/points/visits.rules.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { localDay } from '../../schemas/shared/calendar.rules.js';
import type { Decision } from './decision.schema.js';

interface Visiting {
  member: MemberRow;
  program: Program;
  decision: Decision;
}

/** A sale arrives at most 72 hours late, so the latest visit is among the newest entries. */
const newestEntries = 50;

/** The decision with what it changes in the visits of the member. */
export async function withVisit(deps: Deps, { member, program, decision }: Visiting): Promise<Decision> {
  const { ledger, reversed } = decision;
  if (reversed) return isVisit(reversed) ? withoutVisit(deps, { member, program, decision, reversed }) : decision;
  if (!ledger || !isVisit(ledger)) return decision;
  const at = ledger.occurredAt ?? deps.now();
  const zone = program.timeZone ?? 'UTC';
  const day = localDay(zone, at);
  const lacking = member.seenAt ? undefined : visitsOf(await standingOf(deps, member), zone);
  const { visitDays = 0, lastVisitAt, lastRewardAt } = { ...member, ...lacking?.fields };
  const lastDay = lastVisitAt && localDay(zone, lastVisitAt);
  const isKnown =
    lastDay !== undefined &&
    (day === lastDay || lacking?.days.has(day) || (day < lastDay && (await entriesOf(deps, member, day)).some(stands)));
  const returning = visitDays > 0;
  const last = latest([lastVisitAt, at]);
  return {
    ...decision,
    set: {
      ...decision.set,
      ...lacking?.fields,
      ...(last && { lastVisitAt: last, seenAt: last }),
      ...(!isKnown && { visitDays: visitDays + 1 }),
      ...(ledger.type === 'redeem' && { lastRewardAt: latest([lastRewardAt, at]) ?? at }),
      ...(member.told && { told: toldAfter(member.told, ledger) }),
    },
    ledger: { ...ledger, visit: { day, ...(!isKnown && { counted: { returning } }) } },
    ...(!isKnown && { visit: { day, all: 1, returning: returning ? 1 : 0 } }),
  };
}

/** A visit begins a new occasion of the automatic messages, also one that a till books late. */
function toldAfter(
  { away: _, nearlyFull, ...told }: NonNullable<MemberRow['told']>,
  { type }: Pick<LedgerRow, 'type'>,
) {
  return { ...told, ...(nearlyFull && type !== 'redeem' && { nearlyFull }) };
}

const stands = ({ reversedBy }: LedgerRow): boolean => reversedBy === undefined;

/** The visits of one day, newest first. */
const entriesOf = ({ collections }: Deps, { _id: memberId, merchantId }: MemberRow, day: string) =>
  collections.ledger.find({ memberId, merchantId, 'visit.day': day }).sort({ memberVersion: -1 }).toArray();

/** The entries of a member that are not reversed, newest first; all of them with a `most` of 0. */
const standingOf = ({ collections }: Deps, { _id: memberId, merchantId }: MemberRow, most = 0) =>
  collections.ledger
    .find({ memberId, merchantId, type: { $in: [...reversible] }, reversedBy: { $exists: false } })
    .sort({ memberVersion: -1 })
    .limit(most)
    .toArray();

async function withoutVisit(
  deps: Deps,
  { member, program, decision, reversed }: Visiting & { reversed: LedgerRow },
): Promise<Decision> {
  const { createdAt, seenAt, visitDays = 0 } = member;
  const isKept = seenAt !== undefined;
  const day = reversed.visit?.day;
  const entries = day === undefined ? [] : await entriesOf(deps, member, day);
  const isOver = entries.every((entry) => entry._id === reversed._id || !stands(entry));
  const counted = isOver ? entries.find(({ visit }) => visit?.counted)?.visit?.counted : undefined;
  const standing = await standingOf(deps, member, isKept ? newestEntries : 0);
  const left = standing.filter(({ _id }) => _id !== reversed._id);
  const { lastVisitAt, lastRewardAt, visitDays: days } = visitsOf(left, program.timeZone ?? 'UTC').fields;
  const changesReward = reversed.type === 'redeem' || !isKept;
  return {
    ...decision,
    set: {
      ...decision.set,
      ...(lastVisitAt && { lastVisitAt }),
      seenAt: lastVisitAt ?? createdAt,
      ...(isKept ? counted && { visitDays: visitDays - 1 } : days !== undefined && { visitDays: days }),
      ...(changesReward && lastRewardAt && { lastRewardAt }),
    },
    unset: [
      ...(decision.unset ?? []),
      ...(!lastVisitAt && member.lastVisitAt ? (['lastVisitAt'] as const) : []),
      ...(changesReward && !lastRewardAt && member.lastRewardAt ? (['lastRewardAt'] as const) : []),
    ],
    ...(counted && day !== undefined && { visit: { day, all: -1, returning: counted.returning ? -1 : 0 } }),
  };
}
