// The rows of the overview, and their indexes.
import type { IndexesOf } from '../shared/indexes.js';

/**
 * Counters of one program in one month, by day and name (activities/stats/counting.writes.ts). Never deleted: a program
 * has at most eight rows a month. `programId` is empty for counts that belong to no program.
 */
export interface StatsRow {
  _id: string;
  merchantId: string;
  programId: string;
  /** As `2026-11`, in UTC. */
  month: string;
  days?: Record<string, Record<string, number>>;
}

export interface StatsCollections {
  stats: StatsRow;
}

export const statsIndexes: IndexesOf<StatsCollections> = {
  stats: [{ key: { merchantId: 1, month: 1 }, reason: 'the overview of a merchant' }],
};
