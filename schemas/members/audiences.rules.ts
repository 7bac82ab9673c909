// The members whom the overview counts and the list of members finds, each rule once (docs/interface.md#43-members).
import { z } from 'zod';
import { rewardStates } from '../points/rewards.rules.js';
import type { Program } from '../programs/programs.schema.js';
import { calendarDay } from '../shared/calendar.rules.js';
import type { MemberRow } from './members.rows.js';

export const audience = z
  .enum(['today', 'returning', 'rewarded', 'joined', 'nearlyFull', 'away'])
  .describe(
    'active members who came today; came in the last 7 days, and on an earlier day, too; took a reward in the last 7 days; joined in the last 7 days, not by an import; lack at most a fifth of the goal; have not come for 30 days',
  );
export type Audience = z.infer<typeof audience>;

/** Those whom a merchant can let the service write to by itself. */
export const automaticAudience = audience.extract(['nearlyFull', 'away', 'joined']);
export type AutomaticAudience = z.infer<typeof automaticAudience>;

const dayMs = 86_400_000;
const weekMs = 7 * dayMs;
const awayMs = 30 * dayMs;

interface Range<T> {
  $gte?: T;
  $lt?: T;
}

/** The conditions of a rule, for a query and for `meets`. */
export interface Conditions {
  balance?: Range<number>;
  seenAt?: Range<Date>;
  joinedAt?: Range<Date>;
  lastVisitAt?: Range<Date>;
  lastRewardAt?: Range<Date>;
  visitDays?: Range<number>;
  status: 'active';
}

/** The price of the default reward, or of the cheapest one where the program has none. */
function goalOf(program: Program): number | undefined {
  const costs = rewardStates(program, 0).map(({ cost }) => cost);
  return program.goal ?? (costs.length > 0 ? Math.min(...costs) : undefined);
}

function nearlyFull(program: Program): Range<number> | undefined {
  const goal = goalOf(program);
  return goal === undefined ? undefined : { $gte: Math.max(1, goal - Math.max(1, Math.floor(goal / 5))), $lt: goal };
}

/** What `meets` reads of a member. */
export const audienceFields = {
  balance: 1,
  seenAt: 1,
  joinedAt: 1,
  lastVisitAt: 1,
  lastRewardAt: 1,
  visitDays: 1,
  status: 1,
} as const satisfies Record<keyof Conditions, 1>;

/** The field whose index finds the members, and in which direction the list is read. */
export const orders: Record<Audience, Partial<Record<'seenAt' | 'joinedAt' | 'balance', 1 | -1>>> = {
  today: { seenAt: -1 },
  returning: { seenAt: -1 },
  rewarded: { seenAt: -1 },
  joined: { joinedAt: -1 },
  nearlyFull: { balance: -1 },
  away: { seenAt: 1 },
};

/** Undefined where no member of the program can be meant. */
export function conditionsOf(name: Audience, program: Program, now: Date): Conditions | undefined {
  const since = (ms: number) => new Date(now.getTime() - ms);
  const status = 'active' as const;
  const visited = (from: Date): Conditions => ({ seenAt: { $gte: from }, lastVisitAt: { $gte: from }, status });
  switch (name) {
    case 'today':
      return visited(calendarDay(program.timeZone ?? 'UTC', now).start);
    case 'returning':
      return { ...visited(since(weekMs)), visitDays: { $gte: 2 } };
    case 'rewarded':
      return { ...visited(since(weekMs)), lastRewardAt: { $gte: since(weekMs) } };
    case 'joined':
      return { joinedAt: { $gte: since(weekMs) }, status };
    case 'away':
      return { seenAt: { $lt: since(awayMs) }, status };
    case 'nearlyFull': {
      const balance = nearlyFull(program);
      return balance && { balance, status };
    }
  }
}

const isWithin = (value: number | Date | undefined, { $gte, $lt }: Range<number | Date>): boolean =>
  value !== undefined && ($gte === undefined || value >= $gte) && ($lt === undefined || value < $lt);

/** Whether a member meets the conditions, as a query for them decides. */
export function meets(member: Pick<MemberRow, keyof Conditions>, { status, ...ranges }: Conditions): boolean {
  return (
    member.status === status &&
    Object.entries(ranges).every(([field, range]) => isWithin(member[field as keyof typeof ranges], range))
  );
}

/** The moment with which a new occasion begins: the next round to a reward, the next absence; a member joins once. */
const occasions = { nearlyFull: 'lastRewardAt', away: 'seenAt', joined: 'joinedAt' } as const satisfies Record<
  AutomaticAudience,
  keyof typeof audienceFields
>;

type Occasions = Pick<MemberRow, 'told' | (typeof occasions)[AutomaticAudience]>;

/** Whether the member has not had the automatic message on the present occasion. */
export function isUntold(name: AutomaticAudience, member: Occasions): boolean {
  const told = member.told?.[name];
  const began = member[occasions[name]];
  return told === undefined || (began !== undefined && began > told);
}
