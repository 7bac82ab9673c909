// The points of a sale, calendar days, rewards, and mistakes in the rules of a program file (docs/interface.md,
// sections 2.1, 3.2 and 3.4).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pointsOf } from '../../../schemas/points/earning.rules.js';
import { losesReward, rewardOf, rewardStates } from '../../../schemas/points/rewards.rules.js';
import { programFile } from '../../../schemas/programs/programs.schema.js';
import { calendarDay } from '../../../schemas/shared/calendar.rules.js';
import { ServiceError } from '../../../schemas/shared/errors.js';

const codeOf = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
};

describe('the points of a sale', () => {
  const earn = { per: 100, points: 3, currency: 'EUR' };

  it('are the amount by the rule, rounded down, also where a double would be inexact', () => {
    expect(pointsOf({ style: 'points', earn }, { amount: 1_250 })).toBe(37);
    expect(pointsOf({ style: 'points', earn }, { amount: 33 })).toBe(0);
    const large = { per: 7, points: 1_000_000_000, currency: 'EUR' };
    expect(pointsOf({ style: 'points', earn: large }, { amount: 49_000_007 })).toBe(7_000_001_000_000_000);
    fc.assert(
      fc.property(
        fc.nat(10_000_000),
        fc.integer({ min: 1, max: 10_000 }),
        fc.integer({ min: 1, max: 1_000 }),
        (amount, per, points) => {
          const got = pointsOf(
            { style: 'tiered', earn: { per, points, currency: 'EUR' } },
            { amount, currency: 'EUR' },
          );
          expect(got * per).toBeLessThanOrEqual(amount * points);
          expect((got + 1) * per).toBeGreaterThan(amount * points);
        },
      ),
    );
  });

  it('need a rule, its currency and an amount', () => {
    expect(codeOf(() => pointsOf({ style: 'points' }, { amount: 1 }))).toBe('EARNING_NOT_CONFIGURED');
    expect(codeOf(() => pointsOf({ style: 'points', earn }, { amount: 1, currency: 'USD' }))).toBe('CURRENCY_MISMATCH');
    expect(codeOf(() => pointsOf({ style: 'points', earn }, {}))).toBe('VALIDATION_FAILED');
    expect(codeOf(() => pointsOf({ style: 'points', earn }, { amount: 1, quantity: 2 }))).toBe('VALIDATION_FAILED');
  });

  it('are stamps on a stamps program, one unless a quantity is given, with or without a rule', () => {
    for (const rule of [undefined, {}, { dailyLimit: 2 }]) {
      expect(pointsOf({ style: 'stamps', earn: rule }, {})).toBe(1);
      expect(pointsOf({ style: 'stamps', earn: rule }, { quantity: 4, amount: 900 })).toBe(4);
    }
  });
});

describe('a calendar day', () => {
  const hours = (zone: string, at: string) => {
    const { start, end } = calendarDay(zone, new Date(at));
    return [start.toISOString(), (end.getTime() - start.getTime()) / 3_600_000];
  };

  it.each([
    ['UTC', '2026-11-23T23:59:59.999Z', '2026-11-23T00:00:00.000Z', 24],
    ['UTC', '2026-11-23T00:00:00.000Z', '2026-11-23T00:00:00.000Z', 24],
    ['Europe/Berlin', '2026-03-29T12:00:00Z', '2026-03-28T23:00:00.000Z', 23],
    ['Europe/Berlin', '2026-10-25T12:00:00Z', '2026-10-24T22:00:00.000Z', 25],
    ['Asia/Kathmandu', '2026-11-23T18:15:00Z', '2026-11-23T18:15:00.000Z', 24],
    ['Africa/Cairo', '2026-04-24T12:00:00Z', '2026-04-23T22:00:00.000Z', 23],
    ['Pacific/Apia', '2011-12-29T12:00:00Z', '2011-12-29T10:00:00.000Z', 24],
    ['Pacific/Kiritimati', '2026-11-23T10:00:00Z', '2026-11-23T10:00:00.000Z', 24],
  ])('in %s at %s begins at %s and has %s hours', (zone, at, start, length) => {
    expect(hours(zone, at)).toEqual([start, length]);
  });

  it('ends where the next one begins, everywhere and at any time', () => {
    const zones = Intl.supportedValuesOf('timeZone');
    const moment = fc.date({ min: new Date('2024-01-01'), max: new Date('2034-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(fc.constantFrom(...zones), moment, (zone, at) => {
        const day = calendarDay(zone, at);
        expect(day.start <= at && at < day.end).toBe(true);
        expect(calendarDay(zone, day.start)).toEqual(day);
        expect(calendarDay(zone, day.end).start).toEqual(day.end);
      }),
      { numRuns: 300 },
    );
  });
});

describe('rewards', () => {
  const program = {
    style: 'points',
    goal: 100,
    rewards: [
      { id: 'mug', name: 'Mug', cost: 30, active: true },
      { id: 'old', name: 'Old', cost: 10, active: false },
    ],
  };

  it('show what is ready and what is missing: the active ones, and the one that costs the goal', () => {
    expect(rewardStates(program, 40)).toEqual([
      { id: 'mug', name: 'Mug', cost: 30, ready: true, missing: 0 },
      { id: 'default', name: 'Reward', cost: 100, ready: false, missing: 60 },
    ]);
    expect(rewardStates({ style: 'points' }, 40)).toEqual([]);
  });

  it('are lost exactly by members whose balance reaches the old price and not the new one', () => {
    const price = fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined });
    fc.assert(
      fc.property(price, price, fc.integer({ min: 0, max: 25 }), (before, after, balance) => {
        const priced = (cost: number | undefined) => ({
          ...program,
          rewards: [{ id: 'mug', name: 'Mug', cost: cost ?? 1, active: cost !== undefined }],
        });
        const isReady = (cost: number | undefined) => cost !== undefined && balance >= cost;
        expect(losesReward([priced(before), priced(after)], balance)).toBe(isReady(before) && !isReady(after));
        const goal = (cost: number | undefined) => ({ style: 'stamps', goal: cost });
        expect(losesReward([goal(before), goal(after)], balance)).toBe(isReady(before) && !isReady(after));
      }),
    );
  });

  it('are found by id while they are active', () => {
    expect(rewardOf(program, 'mug')?.cost).toBe(30);
    expect(rewardOf(program, undefined)).toBeUndefined();
    expect(rewardOf(program, 'default')).toBeUndefined();
    for (const id of ['old', 'other', '']) expect(codeOf(() => rewardOf(program, id))).toBe('REWARD_NOT_FOUND');
    expect(codeOf(() => rewardOf({ style: 'points' }, 'default'))).toBe('REWARD_NOT_FOUND');
  });
});

describe('a program file', () => {
  const points = { _id: 'p-1', slug: 'p-1', name: 'P', style: 'points', fields: { primaryLabel: 'POINTS' } };
  const reward = (id: string, cost = 10) => ({ id, name: id, cost });
  const pathsOf = (fields: object): string[] => {
    const parsed = programFile.safeParse({ ...points, ...fields });
    return parsed.success ? [] : parsed.error.issues.map((issue) => issue.path.join('.')).sort();
  };

  it.each([
    ['rewards', { rewards: [reward('mug'), reward('cup')] }, []],
    ['two rewards of one id', { rewards: [reward('mug'), reward('mug')] }, ['rewards.1.id']],
    ['a reward of the reserved id', { rewards: [reward('default')] }, ['rewards.0.id']],
    ['21 rewards', { rewards: Array.from({ length: 21 }, (_, index) => reward(`r${index}`)) }, ['rewards']],
    ['a reward for nothing', { rewards: [reward('mug', 0)] }, ['rewards.0.cost']],
    ['a reward that no card reaches', { style: 'stamps', goal: 5, rewards: [reward('mug', 6)] }, ['rewards.0.cost']],
    ['an earning rule', { earn: { per: 100, points: 1, currency: 'EUR', dailyLimit: 50, cooldownSeconds: 60 } }, []],
    ['half an earning rule', { earn: { per: 100 } }, ['earn.currency', 'earn.points']],
    ['a currency in words', { earn: { per: 100, points: 1, currency: 'euro' } }, ['earn.currency']],
    ['limits of stamps', { style: 'stamps', goal: 5, earn: { dailyLimit: 2, cooldownSeconds: 60 } }, []],
    ['an empty rule of stamps', { style: 'stamps', goal: 5, earn: {} }, []],
    ['points for stamps', { style: 'stamps', goal: 5, earn: { per: 100 } }, ['earn.per']],
    ['a time zone', { timeZone: 'Europe/Berlin' }, []],
    ['a time zone that is none', { timeZone: 'Europe/Atlantis' }, ['timeZone']],
    ['an offset', { timeZone: '+01:00' }, ['timeZone']],
  ])('with %s', (_what, fields, paths) => {
    expect(pathsOf(fields)).toEqual(paths);
  });
});
