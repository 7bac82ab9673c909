// The counters of a merchant's overview, counted with each change (docs/decisions/counted-where-events-are-published.md).
import { z } from 'zod';
import type { VisitCount } from '../points/visits.rules.js';

export const walletCounts = z.object({ apple: z.int(), google: z.int() });
export const memberCounts = z.object({ enrolled: z.int(), joined: z.int(), erased: z.int() });
const visitCounts = z.object({ all: z.int(), returning: z.int() });
export const pointCounts = z.object({
  given: z.int(),
  spent: z.int(),
  expired: z.int(),
  imported: z.int(),
  corrected: z.int(),
});
export const deliveryCounts = z.object({
  attempts: z.int(),
  failedAttempts: z.int(),
  succeeded: z.int(),
  exhausted: z.int(),
});

const counts = {
  members: memberCounts.describe('`enrolled` includes imports, `joined` does not'),
  visits: visitCounts.describe(
    'a member counts once a day; `returning` had come on an earlier day. A reversed visit does not count',
  ),
  installs: walletCounts.describe('passes that customers added to a wallet'),
  removals: walletCounts.describe('passes that customers removed from a wallet'),
  points: pointCounts.describe(
    '`given` + `imported` + `corrected` - `spent` - `expired` is by how much all balances grew; `spent` is what rewards cost; a reversal takes off what it undoes',
  ),
  redeems: z.int(),
  deliveries: deliveryCounts.describe(
    '`attempts` counts each attempt, `succeeded` and `exhausted` each delivery that ended so',
  ),
};

export const statsDay = z.iso.date();

const totals = z.object(counts);

export type Stats = z.infer<typeof totals>;

export const stats = z.object({
  from: statsDay,
  to: statsDay,
  timeZone: z.string().describe('of the program, or of all programs where they agree; UTC otherwise'),
  totals,
  days: z.array(z.object({ day: statsDay, ...counts })).describe('each day of the range, oldest first'),
  programs: z.array(
    z.object({
      programId: z.string().nullable().describe('null for deliveries of events that are about no program'),
      ...counts,
    }),
  ),
});

/** The counters by `<group>.<name>` of the answer. */
export type CountName = {
  [G in keyof Stats]: Stats[G] extends number ? G : `${G}.${keyof Stats[G] & string}`;
}[keyof Stats];

const groups = Object.entries(counts).map(
  ([group, field]) => [group, field instanceof z.ZodObject ? Object.keys(field.shape) : undefined] as const,
);

export const countNames = groups.flatMap(
  ([group, names]) => names?.map((name) => `${group}.${name}`) ?? [group],
) as CountName[];

export type Counts = Partial<Record<CountName, number>>;

/** What one thing adds to the counters of a day: `day`, or the day of `at` in the time zone of the program. */
export interface Counted {
  merchantId: string;
  programId?: string | undefined;
  at: Date;
  day?: string;
  counts: Counts;
}

interface CountedEvent {
  type: string;
  data: Record<string, unknown>;
  initialPoints?: number;
  corrects?: true;
  visit?: VisitCount;
}

const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** A change of a balance without a redeem. */
function pointsOf({ delta: given, reason, reversalOf }: Record<string, unknown>, corrects: boolean): Counts {
  const delta = numberOf(given);
  if (reason === 'expired') return { 'points.expired': -delta };
  if (corrects) return { 'points.corrected': delta };
  if (typeof reversalOf !== 'object' || reversalOf === null)
    return delta > 0 ? { 'points.given': delta } : { 'points.spent': -delta };
  const isRedeem = 'type' in reversalOf && reversalOf.type === 'redeem';
  // A reversed spending counts as nothing given, and a reversed earning as nothing spent.
  return { ...(delta > 0 ? { 'points.spent': -delta } : { 'points.given': delta }), ...(isRedeem && { redeems: -1 }) };
}

const counting: Record<string, (event: CountedEvent) => Counts> = {
  // Imports count their members themselves: some of them are announced by no event.
  'member.created': ({ initialPoints = 0, data }) =>
    data.source === 'import' ? {} : { 'members.enrolled': 1, 'members.joined': 1, 'points.given': initialPoints },
  'member.deleted': () => ({ 'members.erased': 1 }),
  'pass.installed': ({ data }) => ({ [`installs.${data.platform}`]: 1 }),
  'pass.removed': ({ data }) => ({ [`removals.${data.platform}`]: 1 }),
  'points.changed': ({ data, corrects = false }) => pointsOf(data, corrects),
  'reward.redeemed': ({ data }) => ({
    redeems: 1,
    'points.spent': numberOf(data.previous) - numberOf(data.current),
  }),
};

/** The counters that an event adds to its day. */
export const countsOf = (event: CountedEvent): Counts => counting[event.type]?.(event) ?? {};

type EventCounted = CountedEvent & Pick<Counted, 'merchantId' | 'programId'> & { occurredAt: Date };

/** The same, and what it adds to the day of the visit. */
export function countedOf(event: EventCounted): Counted[] {
  const { merchantId, programId, occurredAt: at, visit } = event;
  const about = { merchantId, programId, at };
  const visits = visit && { 'visits.all': visit.all, 'visits.returning': visit.returning };
  return [{ ...about, counts: countsOf(event) }, ...(visits ? [{ ...about, day: visit.day, counts: visits }] : [])];
}

/** Adds up counters and groups them as in the answer. */
export function presentCounts(all: Iterable<Counts>): Stats {
  const list: Record<string, number | undefined>[] = [...all];
  const sum = (name: string): number => list.reduce((total, one) => total + (one[name] ?? 0), 0);
  const sums = (group: string, names: string[]) =>
    Object.fromEntries(names.map((name) => [name, sum(`${group}.${name}`)]));
  return totals.parse(
    Object.fromEntries(groups.map(([group, names]) => [group, names ? sums(group, names) : sum(group)])),
  );
}
