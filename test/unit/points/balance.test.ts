// Properties of the arithmetic of points, stamps, rewards and tiers (docs/interface.md, sections 2.4 and 3.2), for
// arbitrary numbers.
import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  type Adjustment,
  adjust,
  type BalanceChange,
  type Rules,
  redeem,
  type Standing,
  tierOf,
} from '../../../schemas/points/balance.rules.js';
import { maxBalance } from '../../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../../schemas/shared/errors.js';

const balance = fc.oneof(
  fc.integer({ min: 0, max: 1_000 }),
  fc.maxSafeInteger().map(Math.abs),
  fc.constantFrom(0, 1, maxBalance - 1, maxBalance),
);
const point = fc.oneof(
  fc.integer({ min: -1_000, max: 1_000 }),
  fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }),
  fc.constantFrom(-1_000_000_000, 0, 1_000_000_000),
);
const standing = fc.record({ status: fc.constant('active' as const), balance, lifetimePoints: balance });
const adjustment: fc.Arbitrary<Adjustment> = fc.oneof(
  fc.record({ delta: point }),
  fc.record({ value: point.map(Math.abs) }),
);
const tiers = fc
  .uniqueArray(fc.integer({ min: 0, max: 2_000 }), { minLength: 1, maxLength: 6 })
  .map((thresholds) =>
    thresholds.sort((a, b) => a - b).map((threshold, index) => ({ name: `tier ${index}`, threshold })),
  );
const goal = fc.integer({ min: 1, max: 5_000 });

const points: Rules = { style: 'points' };
const stamps = (size: number): Rules => ({ style: 'stamps', goal: size });
const active = (start: number, lifetimePoints = start): Standing => ({
  status: 'active',
  balance: start,
  lifetimePoints,
});

function codeOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error instanceof ServiceError ? error.code : error;
  }
}

const isBalance = (value: number) => Number.isSafeInteger(value) && value >= 0;

describe('adjusting points', () => {
  it('keeps every balance within 0 and 2^53-1, and returns the delta that was applied', () => {
    fc.assert(
      fc.property(standing, adjustment, (before, wanted) => {
        const change = adjust(points, before, wanted);
        expect(change.previous).toBe(before.balance);
        expect(isBalance(change.current)).toBe(true);
        expect(change.delta).toBe(change.current - change.previous);
        expect(Object.is(change.delta, -0)).toBe(false);
      }),
    );
  });

  it('applies exactly the delta within the bounds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 40 }), point, (start, delta) => {
        const { current } = adjust(points, active(start), { delta });
        expect(current).toBe(Math.max(start + delta, 0));
      }),
    );
  });

  it('sets the balance to the value', () => {
    fc.assert(
      fc.property(standing, point.map(Math.abs), (before, value) => {
        expect(adjust(points, before, { value }).current).toBe(value);
      }),
    );
  });

  it('adds only increases to the lifetime total, and never subtracts', () => {
    fc.assert(
      fc.property(standing, adjustment, (before, wanted) => {
        const change = adjust(points, before, wanted);
        expect(isBalance(change.lifetimePoints)).toBe(true);
        expect(change.lifetimePoints).toBeGreaterThanOrEqual(before.lifetimePoints);
        if (change.delta <= 0) expect(change.lifetimePoints).toBe(before.lifetimePoints);
        else if (before.lifetimePoints + change.delta <= maxBalance)
          expect(change.lifetimePoints).toBe(before.lifetimePoints + change.delta);
      }),
    );
  });

  it('stops at the upper bound: a positive delta on the largest balance changes nothing', () => {
    expect(adjust(points, active(maxBalance), { delta: 1 })).toMatchObject({ current: maxBalance, delta: 0 });
  });

  it.each(['voided', 'expired'] as const)('is refused for a member that is %s', (status) => {
    expect(codeOf(() => adjust(points, { ...active(10), status }, { delta: 1 }))).toBe('MEMBER_NOT_ACTIVE');
    expect(codeOf(() => redeem({ ...points, goal: 1 }, { ...active(10), status }))).toBe('MEMBER_NOT_ACTIVE');
  });
});

describe('a stamp card', () => {
  it('accepts one stamp at a time and nothing else', () => {
    fc.assert(
      fc.property(goal, adjustment, (size, wanted) => {
        const done = codeOf(() => adjust(stamps(size), active(0), wanted));
        if ('delta' in wanted && wanted.delta === 1) expect(done).toMatchObject({ current: 1 });
        else expect(done).toBe('STAMP_DELTA_ONLY');
      }),
    );
  });

  it('fills to its goal with as many stamps, refuses one more, and is empty after its reward', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), (size) => {
        let current = 0;
        for (let stamp = 0; stamp < size; stamp += 1) {
          expect(codeOf(() => redeem(stamps(size), active(current)))).toBe('CARD_NOT_FULL');
          ({ current } = adjust(stamps(size), active(current), { delta: 1 }));
        }
        expect(current).toBe(size);
        expect(codeOf(() => adjust(stamps(size), active(current), { delta: 1 }))).toBe('CARD_FULL');
        expect(redeem(stamps(size), active(current))).toMatchObject({ previous: size, current: 0, goal: size });
      }),
    );
  });
});

describe('redeeming', () => {
  it('subtracts the goal from the balance, or returns how much is missing', () => {
    fc.assert(
      fc.property(standing, goal, (before, price) => {
        const rules: Rules = { style: 'points', goal: price };
        if (before.balance < price) {
          const refused = (() => {
            try {
              return redeem(rules, before);
            } catch (error) {
              return error;
            }
          })();
          expect(refused).toMatchObject({
            code: 'CARD_NOT_FULL',
            details: { goal: price, current: before.balance, missing: price - before.balance },
          });
          return;
        }
        const change = redeem(rules, before);
        expect(change).toMatchObject({ previous: before.balance, current: before.balance - price, delta: -price });
        expect(change.lifetimePoints).toBe(before.lifetimePoints);
      }),
    );
  });

  it('is refused when the program has no goal', () => {
    expect(codeOf(() => redeem(points, active(500)))).toBe('REWARD_NOT_CONFIGURED');
  });
});

describe('tiers', () => {
  const rulesOf = (levels: NonNullable<Rules['tiers']>, basis?: 'balance' | 'lifetime'): Rules => ({
    style: 'tiered',
    tiers: levels,
    ...(basis && { basis }),
  });

  it('are the highest threshold reached, by balance unless the basis is lifetime', () => {
    fc.assert(
      fc.property(
        tiers,
        fc.integer({ min: 0, max: 3_000 }),
        fc.integer({ min: 0, max: 3_000 }),
        (levels, now, ever) => {
          const reached = (value: number) => levels.filter((level) => level.threshold <= value).at(-1)?.name;
          expect(tierOf(rulesOf(levels), now, ever)).toBe(reached(now));
          expect(tierOf(rulesOf(levels, 'balance'), now, ever)).toBe(reached(now));
          expect(tierOf(rulesOf(levels, 'lifetime'), now, ever)).toBe(reached(ever));
        },
      ),
    );
  });

  it('of a change are the old one, the new one, and whether it rose', () => {
    fc.assert(
      fc.property(
        tiers,
        fc.constantFrom('balance' as const, 'lifetime' as const),
        standing,
        adjustment,
        (levels, basis, before, wanted) => {
          const rules = rulesOf(levels, basis);
          const change = adjust(rules, before, wanted);
          expect(change.previousTier).toBe(tierOf(rules, before.balance, before.lifetimePoints));
          expect(change.tier).toBe(tierOf(rules, change.current, change.lifetimePoints));
          const rank = (name: string | undefined) => levels.findIndex((level) => level.name === name);
          expect(change.tierUpgraded).toBe(rank(change.tier) > rank(change.previousTier));
        },
      ),
    );
  });

  it('never fall on basis lifetime', () => {
    fc.assert(
      fc.property(tiers, fc.array(adjustment, { maxLength: 20 }), (levels, changes) => {
        const rules = rulesOf(levels, 'lifetime');
        let now = active(0);
        let rank = -1;
        for (const adjustment of changes) {
          const change = adjust(rules, now, adjustment);
          now = { ...now, balance: change.current, lifetimePoints: change.lifetimePoints };
          const next = levels.findIndex((level) => level.name === change.tier);
          expect(next).toBeGreaterThanOrEqual(rank);
          rank = next;
        }
      }),
    );
  });

  it('are returned for tiered programs only', () => {
    expect(adjust(points, active(5), { delta: 1 })).not.toHaveProperty('tierUpgraded');
  });
});

it('a change has the old and the new balance as integers', () => {
  expectTypeOf<BalanceChange['previous']>().toEqualTypeOf<number>();
  expectTypeOf(redeem).returns.toEqualTypeOf<BalanceChange & { goal: number }>();
  expectTypeOf<Adjustment>().toEqualTypeOf<{ delta: number } | { value: number }>();
});
