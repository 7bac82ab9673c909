// iPhones offer a pass at its places while the shop is open.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SAMPLES, templateProblems } from '../../../activities/wallets/apple/templateCheck.rules.js';
import { openingHours, relevantDates } from '../../../schemas/programs/openingHours.schema.js';
import { passTemplate } from '../../../schemas/programs/passTemplate.schema.js';
import { dayAfter, localMoment } from '../../../schemas/shared/calendar.rules.js';
import { passDesign, passJson } from '../../../schemas/wallets/apple/pass.view.js';

const on = (day: string, hours: string, timeZone?: string, now = '2026-11-25T09:00Z') =>
  relevantDates({ [day]: hours }, timeZone, new Date(now)).map(({ startDate, endDate }) =>
    `${startDate} ${endDate}`.replaceAll(':00.000Z', 'Z'),
  );

describe('opening hours', () => {
  it('are those of the next two weeks in the time zone of the program, then all hours of a year', () => {
    expect(on('monday', '09:00-12:30, 14:00-18:00', 'Europe/Berlin')).toEqual([
      '2026-11-30T08:00Z 2026-11-30T11:30Z',
      '2026-11-30T13:00Z 2026-11-30T17:00Z',
      '2026-12-07T08:00Z 2026-12-07T11:30Z',
      '2026-12-07T13:00Z 2026-12-07T17:00Z',
      '2026-12-08T23:00Z 2027-12-08T23:00Z',
    ]);
  });

  it('go on after midnight, also those that began yesterday, and end with the span', () => {
    const night = (now: string) => on('tuesday', '20:00-02:00', undefined, now)[0];
    expect(night('2026-11-25T01:30Z')).toBe('2026-11-24T20:00Z 2026-11-25T02:00Z');
    expect(night('2026-11-25T02:30Z')).toBe('2026-12-01T20:00Z 2026-12-02T02:00Z');
    for (const zone of ['Pacific/Auckland', 'Pacific/Kiritimati', 'Pacific/Pago_Pago'])
      for (const span of on('tuesday', '22:00-02:00', zone).slice(0, -1)) {
        const [start = '', end = ''] = span.split(' ');
        expect([zone, Date.parse(end) - Date.parse(start)]).toEqual([zone, 4 * 3_600_000]);
      }
    expect(on('wednesday', '00:00-00:00')[0]).toBe('2026-11-25T00:00Z 2026-11-26T00:00Z');
  });

  it('follow the clocks when they change', () => {
    const spring = (hours: string) => on('sunday', hours, 'Europe/Berlin', '2026-03-28T12:00Z')[0];
    expect(spring('01:00-09:00')).toBe('2026-03-29T00:00Z 2026-03-29T07:00Z');
    // At 02:00 the clocks show 03:00.
    expect(spring('02:30-09:00')).toBe('2026-03-29T01:30Z 2026-03-29T07:00Z');
    const autumn = (hours: string) => on('sunday', hours, 'Europe/Berlin', '2026-10-24T12:00Z')[0];
    expect(autumn('02:30-09:00')).toBe('2026-10-25T00:30Z 2026-10-25T08:00Z');
  });

  it('are none without a day, and refused in another form', () => {
    expect(relevantDates({})).toEqual([]);
    for (const hours of [
      '9-18',
      '09:00',
      '24:00-01:00',
      '09:00-18:00,',
      '',
      '09:00-10:00, 11:00-12:00, 13:00-14:00, 15:00-16:00',
    ])
      expect(openingHours.safeParse({ monday: hours }).success).toBe(false);
    expect(openingHours.safeParse({ montag: '09:00-18:00' }).success).toBe(false);
  });
});

const zones = ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Pacific/Apia', 'Asia/Kathmandu'];
const wallOf = (zone: string, at: Date) =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' }).format(at);
const times = fc
  .tuple(fc.nat(23), fc.nat(59))
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'));

it('a local time is the moment at which the clocks show it, or jump over it', () => {
  const moments = fc.date({ min: new Date('2015-01-01'), max: new Date('2035-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(fc.constantFrom(...zones), moments, times, (zone, at, time) => {
      const day = dayAfter(zone, at, 0);
      const moment = localMoment(zone, day, time);
      const shown = wallOf(zone, moment);
      if (shown === `${day} ${time}`) return;
      // The clocks have never shown it: shortly before they show less, and at the moment more.
      const before = Array.from({ length: 300 }, (_, index) =>
        wallOf(zone, new Date(moment.getTime() - (index + 1) * 60_000)),
      );
      expect(shown > `${day} ${time}`).toBe(true);
      expect(before).not.toContain(`${day} ${time}`);
    }),
  );
});

describe('a pass', () => {
  const hours = { openingHours: { monday: '09:00-18:00' } };
  const places = { locations: [{ latitude: 52, longitude: 13 }] };
  const [active] = SAMPLES;
  if (!active) throw new Error('no sample');
  const datesOf = (template: object, status: 'active' | 'voided' = 'active') => {
    const program = { name: 'Bar', style: 'points' as const, timeZone: 'Europe/Berlin' };
    const design = passDesign({ passTypeId: 'pass.x', teamId: 'T' }, program, passTemplate.parse(template));
    return passJson(design, { ...active, status }, new Date('2026-11-25T09:00Z')).relevantDates;
  };

  it('has them with places, while it is active', () => {
    expect(datesOf({ ...hours, ...places })).toMatchObject([
      { startDate: '2026-11-30T08:00:00.000Z', endDate: '2026-11-30T17:00:00.000Z' },
      { startDate: '2026-12-07T08:00:00.000Z' },
      { startDate: '2026-12-08T23:00:00.000Z' },
    ]);
    expect(datesOf({ ...hours, ...places }, 'voided')).toBeUndefined();
    expect(datesOf(hours)).toBeUndefined();
    expect(datesOf(places)).toBeUndefined();
  });

  it('with them is in the form that Apple takes', () => {
    expect(templateProblems({ name: 'Bar', style: 'points', passTemplate: { ...hours, ...places } })).toEqual([]);
  });
});
