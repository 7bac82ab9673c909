// When the rule of an automatic message is due, and whom it has told.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { daysDue, dueAfterChange, nextHour } from '../../../schemas/batches/automaticMessages.rules.js';
import { automaticAudience, isUntold } from '../../../schemas/members/audiences.rules.js';
import { localDay } from '../../../schemas/shared/calendar.rules.js';

const hourMs = 3_600_000;
const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/St_Johns', 'Pacific/Kiritimati', 'Australia/Lord_Howe');
const hours = fc.integer({ min: 0, max: 23 });
const moments = fc.date({ min: new Date('2025-01-01'), max: new Date('2030-01-01'), noInvalidDate: true });
const clockOf = (timeZone: string, at: Date) =>
  new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(at);

describe('the next time at which a rule is due', () => {
  it('is the next moment at which the clocks of the program show its hour', () => {
    fc.assert(
      fc.property(zones, hours, moments, (zone, hour, now) => {
        const next = nextHour(zone, hour, now);
        expect(next.getTime()).toBeGreaterThan(now.getTime());
        expect(next.getTime() - now.getTime()).toBeLessThanOrEqual(25 * hourMs);
        // Where the clocks skip the hour, they show as much later as they jump.
        const [shown = '', minute] = clockOf(zone, next).split(':');
        expect([hour, hour + 1]).toContain(Number(shown));
        if (Number(shown) === hour && zone !== 'Australia/Lord_Howe') expect(minute).toBe('00');
      }),
    );
  });

  it('stays after a change that leaves the hour, and while a day is due', () => {
    fc.assert(
      fc.property(zones, hours, hours, moments, moments, (zone, hour, other, now, dueAt) => {
        const before = { on: true, hour, dueAt };
        expect(dueAfterChange(before, { on: true, hour }, { zone, now })).toEqual(dueAt);
        const moved = dueAfterChange(before, { on: true, hour: other }, { zone, now });
        expect(moved).toEqual(dueAt <= now || hour === other ? dueAt : nextHour(zone, other, now));
        expect(dueAfterChange(before, { on: false, hour }, { zone, now })).toBeUndefined();
        const switchedOn = dueAfterChange({ on: false, hour, dueAt }, { on: true, hour }, { zone, now });
        expect(switchedOn).toEqual(nextHour(zone, hour, now));
      }),
    );
  });
});

describe('the day of a rule', () => {
  const rule = { hour: 10, dueAt: new Date('2026-11-26T10:00:00Z') };
  it.each([
    ['not before its time', '2026-11-26T09:59:59Z', undefined, {}],
    ['at its hour', '2026-11-26T10:00:00Z', '2026-11-25', { day: '2026-11-26' }],
    [
      'later on the same day, where no worker ran at its hour',
      '2026-11-26T23:59:59Z',
      undefined,
      { day: '2026-11-26' },
    ],
    ['not a second time', '2026-11-26T12:00:00Z', '2026-11-26', {}],
    ['not on the next day: it is skipped', '2026-11-27T09:59:59Z', '2026-11-25', { skipped: '2026-11-26' }],
    [
      'but the next day is sent for',
      '2026-11-28T11:00:00Z',
      '2026-11-25',
      { day: '2026-11-28', skipped: '2026-11-26' },
    ],
  ])('is sent for %s', (_, now, lastDay, due) => {
    expect(daysDue({ ...rule, ...(lastDay && { lastDay }) }, 'UTC', new Date(now))).toEqual(due);
  });

  it('comes once for each calendar day, however often it is asked and wherever workers stop', () => {
    fc.assert(
      fc.property(
        zones,
        hours,
        moments,
        fc.array(fc.integer({ min: 1, max: 30 * hourMs })),
        (zone, hour, start, waits) => {
          let [now, dueAt, lastDay] = [start, nextHour(zone, hour, start), undefined as string | undefined];
          const sent: string[] = [];
          for (const wait of waits) {
            now = new Date(now.getTime() + wait);
            const wasDue = now >= dueAt;
            const { day, skipped } = daysDue({ hour, dueAt, ...(lastDay && { lastDay }) }, zone, now);
            // Each day that was due is sent for or said to be skipped.
            if (wasDue) expect([day, skipped]).toContain(localDay(zone, dueAt));
            if (day !== undefined) sent.push(day);
            if (wasDue) [dueAt, lastDay] = [nextHour(zone, hour, now), day ?? lastDay];
          }
          expect(sent).toEqual([...new Set(sent)].toSorted());
        },
      ),
    );
  });
});

describe('a member', () => {
  const before = new Date('2026-11-01');
  const told = new Date('2026-11-10');
  const after = new Date('2026-11-20');

  it.each(automaticAudience.options)('of %s is untold until the message came', (audience) => {
    const seen = { seenAt: before, joinedAt: before, lastRewardAt: before };
    expect(isUntold(audience, { ...seen, told: {} })).toBe(true);
    expect(isUntold(audience, { ...seen, told: { [audience]: told } })).toBe(false);
  });

  it('is told again with the next round to a reward and in the next absence, and joins once', () => {
    const all = { nearlyFull: told, away: told, joined: told };
    expect(isUntold('nearlyFull', { told: all, lastRewardAt: after })).toBe(true);
    expect(isUntold('nearlyFull', { told: all, seenAt: after })).toBe(false);
    expect(isUntold('away', { told: all, seenAt: after })).toBe(true);
    expect(isUntold('away', { told: all, lastRewardAt: after })).toBe(false);
    expect(isUntold('joined', { told: all, joinedAt: before, seenAt: after, lastRewardAt: after })).toBe(false);
  });
});
