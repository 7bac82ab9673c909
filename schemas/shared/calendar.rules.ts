// Calendar days in a time zone, from the time zone data of the runtime. A day may have 23 or 25 hours, begin after
// midnight, or be missing. The runtime handles all of this, because it is asked for the day of a moment.
// Not temporal-polyfill, which takes ten times as long for a midnight, and lists ask for one for each member.
import { z } from 'zod';

const hourMs = 3_600_000;
/** Longer than any calendar day. */
const windowMs = 49 * hourMs;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  formats.set(timeZone, format);
  return format;
}

function isTimeZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && Boolean(new Intl.DateTimeFormat('en-CA', { timeZone: name }));
  } catch {
    return false;
  }
}

const firstMs = Date.parse('0000-01-01');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');
// A text that is no moment is refused by its format.
const hasFourDigits = (value: string): boolean => !(Date.parse(value) < firstMs || Date.parse(value) > lastMs);

/** A moment with its offset from UTC, as text. In UTC too its year has four digits, as in every answer and pass. */
export const momentText = z.iso
  .datetime({ offset: true })
  .refine(hasFourDigits, 'must be within the years 0000 to 9999 in UTC');

/** The same as a date. */
export const moment = momentText.transform((value) => new Date(value));

/** A name of the IANA time zone database. */
export const timeZone = z.string().max(64).refine(isTimeZone, 'must be an IANA time zone, such as Europe/Berlin');

/** The calendar day in UTC of a moment in ms, as `2026-11-26`; the first or the last one of the years 0000 to 9999. */
export const utcDay = (at: number): string =>
  new Date(Math.min(Math.max(at, firstMs), lastMs)).toISOString().slice(0, 10);

/** The calendar day of a moment, as `2026-11-26`. The years are 1000 to 9999: others have fewer or more digits. */
export const localDay = (zone: string, at: Date): string => formatOf(zone).format(at);

/** The smallest moment in (`low`, `high`] for which `holds` is true; it must be true for `high`. */
function firstMoment(low: number, high: number, holds: (at: number) => boolean): Date {
  let [before, first] = [low, high];
  while (first - before > 1) {
    const middle = Math.floor((before + first) / 2);
    if (holds(middle)) first = middle;
    else before = middle;
  }
  return new Date(first);
}

/** The calendar day of a moment: its first moment, and the first moment of the next day. */
export function calendarDay(zone: string, at: Date): { start: Date; end: Date } {
  const format = formatOf(zone);
  const day = format.format(at);
  const isSameDay = (moment: number) => format.format(moment) === day;
  const now = at.getTime();
  return {
    start: firstMoment(now - windowMs, now, isSameDay),
    end: firstMoment(now, now + windowMs, (moment) => !isSameDay(moment)),
  };
}

const dayMs = 24 * hourMs;
/** The calendar day `days` after that of a moment, such as 2026-12-31. */
export const dayAfter = (zone: string, at: Date, days: number): string =>
  utcDay(Date.parse(localDay(zone, at)) + days * dayMs);

const midnights = new Map<string, Date>();
const maxMidnights = 10_000;

/**
 * The first moment of the calendar day `days` after the day of `at`. When the clocks skip that day, the first moment
 * after it.
 */
export function midnightAfter(zone: string, at: Date, days: number): Date {
  const day = dayAfter(zone, at, days);
  const key = `${zone} ${day}`;
  const known = midnights.get(key);
  if (known) return known;
  if (midnights.size >= maxMidnights) midnights.clear();
  const format = formatOf(zone);
  const start = Date.parse(day);
  const midnight = firstMoment(start - windowMs, start + windowMs, (moment) => format.format(moment) >= day);
  midnights.set(key, midnight);
  return midnight;
}

const clocks = new Map<string, Intl.DateTimeFormat>();

/** How far the clocks of the zone are ahead of UTC. */
function offsetAt(zone: string, at: number): number {
  const clock =
    clocks.get(zone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  clocks.set(zone, clock);
  return Date.parse(`${clock.format(at).replace(' ', 'T')}Z`) - at;
}

/**
 * The moment at which the clocks of the zone show this day and time: the first one where they show it twice, and as
 * much later as they jump where they skip it.
 */
export function localMoment(zone: string, day: string, time: string): Date {
  const wall = Date.parse(`${day}T${time}Z`);
  const [before, after] = [wall - dayMs, wall + dayMs].map((at) => wall - offsetAt(zone, at)) as [number, number];
  const shown = [before, after].filter((at) => at + offsetAt(zone, at) === wall);
  return new Date(shown.length > 0 ? Math.min(...shown) : before);
}

/** The calendar day of a moment in words, such as 31 Dec 2026. */
export const dayIn = (timeZone: string, at: Date, locale = 'en-GB'): string =>
  new Intl.DateTimeFormat(locale, { timeZone, day: 'numeric', month: 'short', year: 'numeric' }).format(at);
