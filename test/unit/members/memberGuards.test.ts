// What the console asks about before a change of a member, and why a button of its is off.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { adjust, award } from '../../../schemas/points/balance.rules.js';

// The console is compiled by itself, so its modules have no types here.
const module = '../../../console/pages/memberGuards.js';
interface Guards {
  isUnusual: (member: { balance: number; rewards: { cost: number }[] }, delta: number) => boolean;
  notGivenBecause: (member: object, delta?: number) => string | undefined;
}
const { isUnusual, notGivenBecause }: Guards = await import(module);

const reward = (cost: number) => ({ id: 'default', name: 'Coffee', cost, ready: false, missing: cost });

it('a change is asked about that takes more than there is, or gives ten of the dearest reward', () => {
  const member = { balance: 30, rewards: [reward(50), reward(100)] };
  expect([-31, -30, -1, 1, 999].map((delta) => isUnusual(member, delta))).toEqual([true, false, false, false, false]);
  expect([1_000, 1_000_000].map((delta) => isUnusual(member, delta))).toEqual([true, true]);
  expect([9_999, 10_000].map((delta) => isUnusual({ balance: 0, rewards: [] }, delta))).toEqual([false, true]);
});

it('stamps can be given exactly when the service takes them', () => {
  const status = fc.constantFrom('active' as const, 'voided' as const, 'expired' as const);
  fc.assert(
    fc.property(status, fc.nat(12), fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: 5 }), (...drawn) => {
      const [standing, balance, goal, delta] = drawn;
      const program = { style: 'stamps' as const, goal };
      const before = { status: standing, balance, lifetimePoints: balance };
      let isTaken = true;
      try {
        if (delta === 1) adjust(program, before, { delta });
        else award(program, before, delta);
      } catch {
        isTaken = false;
      }
      const member = { status: standing, balance, rewards: [reward(goal)], program };
      expect(notGivenBecause(member, delta) === undefined).toBe(isTaken);
    }),
  );
});
