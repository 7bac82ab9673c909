// The counters of a merchant's overview. The cost depends on the numbers of months and programs, not on the number of
// members.
import { fieldOfCount, fieldOfDay } from '../../activities/stats/counting.writes.js';
import type { Deps } from '../../platform/deps.js';
import { localDay } from '../../schemas/shared/calendar.rules.js';
import type { StatsRow } from '../../schemas/stats/stats.rows.js';
import { type CountName, type Counts, countNames } from '../../schemas/stats/stats.schema.js';

/**
 * The time zone of the program, or the one that all programs of the merchant have, UTC otherwise; and today, where it
 * began first.
 */
export async function zoneOf(
  { collections: { programs }, now }: Deps,
  { merchantId, programId }: { merchantId: string; programId: string | undefined },
): Promise<{ timeZone: string; today: string }> {
  const where = { ...(programId !== undefined && { _id: programId }), merchantId };
  const all = await programs.find(where, { projection: { timeZone: 1, archived: 1 } }).toArray();
  const used = all.filter(({ archived }) => programId !== undefined || !archived);
  const [first = 'UTC', ...others] = new Set(used.map(({ timeZone = 'UTC' }) => timeZone));
  const days = [first, ...others].map((zone) => localDay(zone, now()));
  return { timeZone: others.length > 0 ? 'UTC' : first, today: days.toSorted().at(-1) ?? '' };
}

interface ReadStats {
  merchantId: string;
  programId?: string | undefined;
  /** Days as `2026-11-23`, oldest first, without gaps. */
  days: readonly string[];
}

export interface StatsRead {
  byDay: Map<string, Counts[]>;
  byProgram: Map<string, Counts[]>;
}

export async function readStats(deps: Deps, { merchantId, programId, days }: ReadStats): Promise<StatsRead> {
  const months = [...new Set(days.map((day) => day.slice(0, 7)))];
  const byDay = new Map(days.map((day): [string, Counts[]] => [day, []]));
  const byProgram = new Map<string, Counts[]>();
  const month = { $gte: months[0] ?? '', $lte: months.at(-1) ?? '' };
  const rows = deps.collections.stats.find({ merchantId, month, ...(programId !== undefined && { programId }) });
  for await (const row of rows)
    for (const day of days.filter((each) => each.startsWith(row.month))) {
      const counts = countsOfDay(row, day);
      if (!counts) continue;
      byDay.get(day)?.push(counts);
      const ofProgram = byProgram.get(row.programId) ?? [];
      ofProgram.push(counts);
      byProgram.set(row.programId, ofProgram);
    }
  return { byDay, byProgram };
}

function countsOfDay(row: StatsRow, day: string): Counts | undefined {
  const fields = row.days?.[fieldOfDay(day)];
  if (!fields) return undefined;
  return Object.fromEntries(countNames.map((name): [CountName, number] => [name, fields[fieldOfCount(name)] ?? 0]));
}
