// The overview of a merchant: its counters, by day and by program.
import { programKeyIn } from '../../activities/programs/program.reads.js';
import { utcDay } from '../../schemas/shared/calendar.rules.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { programIdOf } from '../../schemas/shared/ids.js';
import type { statsEndpoints } from '../../schemas/stats/stats.routes.js';
import { maxStatsDays } from '../../schemas/stats/stats.routes.js';
import { presentCounts } from '../../schemas/stats/stats.schema.js';
import type { Routes } from '../http/request.js';
import { readStats, zoneOf } from './stats.reads.js';

const dayMs = 86_400_000;
const usualDays = 30;

/** Throws VALIDATION_FAILED. */
function daysOf({ from, to }: { from: string; to: string }): string[] {
  const count = (Date.parse(to) - Date.parse(from)) / dayMs + 1;
  if (count < 1) throw new ServiceError('VALIDATION_FAILED', [{ path: 'to', message: 'must not be before from' }]);
  if (count > maxStatsDays)
    throw new ServiceError('VALIDATION_FAILED', [
      { path: 'from', message: `is more than ${maxStatsDays} days before to` },
    ]);
  return Array.from({ length: count }, (_, index) => utcDay(Date.parse(from) + index * dayMs));
}

export const statsRoutes: Routes<keyof typeof statsEndpoints> = {
  async readStats({ deps, caller: { merchantId }, query: { programId, ...range } }) {
    const of = await programKeyIn(deps, { merchantId, programId });
    const { timeZone, today } = await zoneOf(deps, { merchantId, programId: of });
    const to = range.to ?? today;
    const from = range.from ?? utcDay(Date.parse(to) - (usualDays - 1) * dayMs);
    const { byDay, byProgram } = await readStats(deps, { merchantId, programId: of, days: daysOf({ from, to }) });
    return {
      data: {
        ...{ from, to, timeZone },
        totals: presentCounts([...byDay.values()].flat()),
        days: Array.from(byDay, ([day, counts]) => ({ day, ...presentCounts(counts) })),
        programs: Array.from(byProgram, ([id, counts]) => ({
          programId: programIdOf(id) || null,
          ...presentCounts(counts),
        })),
      },
    };
  },
};
