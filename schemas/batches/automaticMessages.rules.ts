// When the rule of an automatic message is due: once a calendar day of its program, at its hour. A day that was missed
// is made up until it is over.
import { dayAfter, localDay, localMoment } from '../shared/calendar.rules.js';
import type { AutomaticMessageRow } from './batches.rows.js';

const hourOf = (zone: string, day: string, hour: number): Date =>
  localMoment(zone, day, `${String(hour).padStart(2, '0')}:00`);

/** The first moment after `now` at which the clocks show the hour. */
export function nextHour(zone: string, hour: number, now: Date): Date {
  const today = hourOf(zone, localDay(zone, now), hour);
  return today > now ? today : hourOf(zone, dayAfter(zone, now, 1), hour);
}

type Due = Pick<AutomaticMessageRow, 'hour' | 'dueAt' | 'lastDay'>;

/** What a rule that is on has to do now: the day to send for, and a day that passed unsent. */
export function daysDue({ hour, dueAt, lastDay }: Due, zone: string, now: Date): { day?: string; skipped?: string } {
  if (!dueAt || now < dueAt) return {};
  const [today, wanted] = [localDay(zone, now), localDay(zone, dueAt)];
  const isNew = lastDay === undefined || lastDay < today;
  return {
    ...(isNew && hourOf(zone, today, hour) <= now && { day: today }),
    ...(wanted < today && (lastDay ?? '') < wanted && { skipped: wanted }),
  };
}

/** When a rule is due after a change of it. A day that is due stays due. */
export function dueAfterChange(
  before: Pick<AutomaticMessageRow, 'on' | 'hour' | 'dueAt'>,
  { on, hour }: Pick<AutomaticMessageRow, 'on' | 'hour'>,
  { zone, now }: { zone: string; now: Date },
): Date | undefined {
  if (!on) return undefined;
  const kept = before.on ? before.dueAt : undefined;
  return kept && (before.hour === hour || kept <= now) ? kept : nextHour(zone, hour, now);
}
