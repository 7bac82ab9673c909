// How many campaigns a merchant sends within any 24 hours. A campaign for a time to come counts at that time.
import type { BatchRow } from './batches.rows.js';

export const dayMs = 86_400_000;

export const sentAt = ({ sendAt, startedAt }: Pick<BatchRow, 'sendAt' | 'startedAt'>): Date => sendAt ?? startedAt;

/**
 * Undefined when one more campaign at `at` leaves at most `max` in any 24 hours; otherwise how long after `at` the next
 * moment is at which it does. `others`: the campaigns from 24 hours before `at` on.
 */
export function fullForMs(others: readonly Date[], at: Date, max: number): number | undefined {
  if (max < 1) return dayMs;
  const times = others.map((time) => time.getTime()).toSorted((a, b) => a - b);
  let free = at.getTime();
  // Each `max` campaigns within a day leave no room from a day before the last to a day after the first.
  for (const [index, first] of times.entries()) {
    const last = times[index + max - 1];
    if (last === undefined) break;
    if (last - first < dayMs && last - dayMs < free && free < first + dayMs) free = first + dayMs;
  }
  return free === at.getTime() ? undefined : free - at.getTime();
}
