// When a program's shops are open, and the moments at which iPhones may therefore offer its passes.
import { z } from 'zod';
import { dayAfter, localMoment } from '../shared/calendar.rules.js';

/** In the order of `Date.getUTCDay`. */
const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;

const time = '(?:[01]\\d|2[0-3]):[0-5]\\d';
const span = `${time}-${time}`;

/** A span that does not end after its beginning ends on the next day. */
const hours = z
  .string()
  .regex(new RegExp(`^${span}(?:, ${span}){0,2}$`), 'is written 09:00-18:00, or 09:00-12:30, 14:00-18:00');

export const openingHours = z
  .partialRecord(z.enum(weekdays), hours)
  .describe('by the weekdays, such as `{"monday": "09:00-12:30, 14:00-18:00"}`; a day that is missing is closed');

type OpeningHours = z.output<typeof openingHours>;

/** A phone fetches a pass only when it has changed, so that a pass of an absent customer grows old. */
const daysAhead = 14;
const yearMs = 365 * 86_400_000;

/**
 * `relevantDates` of a pass that is built now. Wallet offers a store card by dates only if it has places, and then there
 * only at these dates. After the last day they hold all hours, so that a pass that has not changed for long is offered.
 */
export function relevantDates(given: OpeningHours, timeZone = 'UTC', now = new Date()) {
  const days = Array.from({ length: daysAhead + 1 }, (_, index) => dayAfter(timeZone, now, index - 1));
  const open = days.flatMap((day) => {
    const weekday = weekdays[new Date(day).getUTCDay()];
    return (weekday ? (given[weekday] ?? '') : '').split(', ').flatMap((one) => {
      const [from = '', to = ''] = one.split('-');
      if (to === '') return [];
      const last = to > from ? day : dayAfter('UTC', new Date(day), 1);
      return [{ startDate: localMoment(timeZone, day, from), endDate: localMoment(timeZone, last, to) }];
    });
  });
  if (open.length === 0) return [];
  const end = localMoment(timeZone, dayAfter(timeZone, now, daysAhead), '00:00');
  return [...open, { startDate: end, endDate: new Date(end.getTime() + yearMs) }]
    .filter(({ startDate, endDate }) => endDate > now && endDate > startDate)
    .map(({ startDate, endDate }) => ({ startDate: startDate.toISOString(), endDate: endDate.toISOString() }));
}

/** The same, made once an hour, because a pass is built in less time than they are. */
export function relevantDatesAt(given: OpeningHours = {}, timeZone?: string) {
  let made: { hour: number; dates: ReturnType<typeof relevantDates> } | undefined;
  return (now: Date) => {
    const hour = Math.floor(now.getTime() / 3_600_000);
    if (made?.hour !== hour) made = { hour, dates: relevantDates(given, timeZone, now) };
    return made.dates;
  };
}
