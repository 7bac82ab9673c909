// The counters of a merchant's overview: one row for each program and month, which contains the days. Counts are
// written in the transaction of what they count, so each thing is counted once, even if a process dies. A program has
// several rows, and each writer uses one of them, so that writers do not wait for each other.
import { randomInt } from 'node:crypto';
import type { Deps } from '../../platform/deps.js';
import { isRetryable } from '../../platform/mongodb/conflicts.js';
import { update } from '../../platform/mongodb/statements.js';
import type { Statement } from '../../platform/mongodb/transaction.js';
import { localDay } from '../../schemas/shared/calendar.rules.js';
import type { Counted, CountName } from '../../schemas/stats/stats.schema.js';

/** Rows for each program and month. A merchant's overview reads all of them. */
const slots = 8;

export interface Counting {
  /** The statements that add the counts, for the transaction of what is counted. Each matches or inserts one row. */
  statements: (counted: readonly Counted[]) => Promise<Statement[]>;
  /** Runs `work`, which commits such statements. After a conflict, the statements that follow use other rows. */
  changeSlotOnConflict: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Days and counters as field names, which allow neither a dot nor a leading digit. */
export const fieldOfDay = (day: string): string => `d${day.slice(8)}`;
export const fieldOfCount = (name: CountName): string => name.replace('.', '_');

type CountingDeps = Pick<Deps, 'collections' | 'cached' | 'read'>;

/** The time zone of a program, at most a second old; UTC where none is set, and for what is about no program. */
async function zoneOf({ cached, read }: CountingDeps, { merchantId, programId }: Counted): Promise<string> {
  if (!programId) return 'UTC';
  const found = await cached(`zone:${programId}`, async () => {
    const program = await read.program({ _id: programId, merchantId });
    return program && { zone: program.timeZone ?? 'UTC' };
  });
  return found?.zone ?? 'UTC';
}

/** For one writer with sequential transactions. */
export function createCounting(deps: CountingDeps): Counting {
  let slot = randomInt(slots);
  return {
    async statements(counted) {
      const rows = new Map<string, { set: { merchantId: string; programId: string; month: string }; inc: Counters }>();
      for (const one of counted) {
        const { merchantId, programId = '', at, counts } = one;
        const day = one.day ?? localDay(await zoneOf(deps, one), at);
        const month = day.slice(0, 7);
        const _id = `${merchantId}:${programId}:${month}:${slot}`;
        const row = rows.get(_id) ?? { set: { merchantId, programId, month }, inc: {} };
        for (const [name, by] of Object.entries(counts)) {
          if (by === 0) continue;
          const field = `days.${fieldOfDay(day)}.${fieldOfCount(name as CountName)}`;
          row.inc[field] = (row.inc[field] ?? 0) + by;
        }
        if (Object.keys(row.inc).length > 0) rows.set(_id, row);
      }
      return Array.from(rows, ([_id, { set, inc }]) =>
        update(deps, 'stats', { _id }, { $setOnInsert: set, $inc: inc }, true),
      );
    },

    async changeSlotOnConflict(work) {
      try {
        return await work();
      } catch (error) {
        if (isRetryable(error)) slot = randomInt(slots);
        throw error;
      }
    },
  };
}

type Counters = Record<string, number>;
