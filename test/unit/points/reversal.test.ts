// Properties of ledgers (docs/interface.md#35-reversals): after any sequence of changes and reversals the ledger adds
// up to the member's values, and reversing everything restores the initial state.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { balanceDecision } from '../../../activities/members/balanceDecision.rules.js';
import { pointsRule, redeemRule } from '../../../activities/points/adjustOrRedeem.rules.js';
import type { Actor } from '../../../schemas/access/actor.schema.js';
import type { MemberRow } from '../../../schemas/members/members.rows.js';
import { award, tierOf } from '../../../schemas/points/balance.rules.js';
import type { LedgerRow } from '../../../schemas/points/points.rows.js';
import { reverse } from '../../../schemas/points/reversal.rules.js';
import { type Program, programFile } from '../../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../../schemas/shared/errors.js';
import { tierNow } from '../../../schemas/wallets/passes.view.js';

const actor: Actor = { type: 'user', id: 'tester' };
const asked = { actor, now: new Date('2026-11-23T12:00:00Z') };

const program = (fields: object): Program => ({
  ...programFile.parse({
    ...{ _id: 'p', slug: 'p', name: 'P', style: 'points', fields: { primaryLabel: 'POINTS' }, goal: 100 },
    ...fields,
  }),
  merchantId: 'm',
});

const tiers = (...thresholds: number[]) => thresholds.map((threshold, index) => ({ name: `T${index}`, threshold }));

type State = Pick<MemberRow, 'balance' | 'lifetimePoints' | 'redeemedCount' | 'ledgerCount' | 'status'> & {
  tier?: string;
};

/** A member and its ledger in memory: the rules of the service, with the writes of changeMember. */
function ledgerOf(rules: Program, balance: number) {
  const tier = tierOf(rules, balance, balance);
  const begin: State = {
    ...{ balance, lifetimePoints: balance, redeemedCount: 0, ledgerCount: 1, status: 'active' },
    ...(tier !== undefined && { tier }),
  };
  let state = { ...begin, field: 'points' } as unknown as MemberRow;
  const rows: Omit<LedgerRow, 'merchantId' | 'memberId' | 'programId' | 'memberVersion' | 'createdAt'>[] = [];

  function write({
    set,
    unset = [],
    ledger,
  }: Pick<ReturnType<typeof balanceDecision>, 'set' | 'unset' | 'ledger'>): void {
    state = { ...state, ...set };
    for (const field of unset) delete state[field];
    if (ledger) rows.push({ ...ledger, _id: String(rows.length) });
  }

  return {
    begin,
    rows,
    state: () => state,
    points: (by: Program, body: { delta: number } | { value: number }) => write(pointsRule(body, asked)(state, by)),
    redeem: (by: Program, rewardId?: string) => write(redeemRule({ rewardId }, asked)(state, by)),
    earn: (by: Program, points: number) => {
      const change = award(by, state, points);
      write(balanceDecision(state, { change, program: by, entry: { type: 'earn', actor }, now: asked.now }));
    },
    reverse: (by: Program, index: number) => {
      const row = rows[index];
      if (!row) return;
      const standing = { ...state, tier: tierNow({ member: state, program: by }) };
      const { change, redeemedCount, undone } = reverse(by, standing, row);
      const entry = { type: 'reversal' as const, actor, reverses: row._id, effect: undone };
      write(balanceDecision(state, { change, program: by, entry, redeemedCount, now: asked.now }));
      row.reversedBy = String(rows.length - 1);
    },
  };
}

type Ledger = ReturnType<typeof ledgerOf>;

/** Runs the work and returns the code of its refusal, if any. */
function codeOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}

const programs = {
  points: program({ rewards: [{ id: 'mug', name: 'Mug', cost: 30 }] }),
  stamps: program({ style: 'stamps', goal: 5, rewards: [{ id: 'mug', name: 'Mug', cost: 3 }] }),
  tiered: program({ style: 'tiered', tiers: tiers(0, 60, 300) }),
  later: program({ style: 'tiered', tiers: tiers(10, 60, 300), basis: 'lifetime' }),
};
const anyProgram = fc
  .constantFrom(...(Object.keys(programs) as (keyof typeof programs)[]))
  .map((name) => programs[name]);

type Step = (ledger: Ledger, by: Program) => void;
const stamps = ({ style }: Program) => style === 'stamps';
const change: fc.Arbitrary<Step> = fc.oneof(
  fc
    .integer({ min: -150, max: 150 })
    .map((delta) => (ledger: Ledger, by: Program) => ledger.points(by, { delta: stamps(by) ? 1 : delta })),
  fc
    .integer({ min: 0, max: 200 })
    .map((value) => (ledger: Ledger, by: Program) => ledger.points(by, stamps(by) ? { delta: 1 } : { value })),
  fc
    .integer({ min: 0, max: 90 })
    .map((points) => (ledger: Ledger, by: Program) => ledger.earn(by, stamps(by) ? 1 + (points % 3) : points)),
  fc.constantFrom('mug', undefined).map((rewardId) => (ledger: Ledger, by: Program) => ledger.redeem(by, rewardId)),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: change, weight: 4 },
  {
    arbitrary: fc.nat(40).map(
      (index): Step =>
        (ledger, by) =>
          ledger.reverse(by, index),
    ),
    weight: 1,
  },
);

const sum = (numbers: (number | undefined)[]) => numbers.reduce((total: number, each) => total + (each ?? 0), 0);

/** The rows that can still be reversed. */
const openRows = ({ rows }: Ledger): number[] =>
  [...rows.keys()].filter((index) => rows[index]?.type !== 'reversal' && rows[index]?.reversedBy === undefined);

/**
 * Reverses all rows, always the first one that is not refused, starting at `pick`. Returns false when only refusals are
 * left.
 */
function reverseAll(ledger: Ledger, by: Program, pick: (count: number) => number): boolean {
  for (let left = openRows(ledger); left.length > 0; left = openRows(ledger)) {
    const from = pick(left.length);
    const inTurn = [...left.slice(from), ...left.slice(0, from)];
    if (!inTurn.some((index) => codeOf(() => ledger.reverse(by, index)) === undefined)) return false;
  }
  return true;
}

const memberOf = ({ balance, lifetimePoints, redeemedCount, tier }: State) => ({
  balance,
  lifetimePoints,
  redeemedCount,
  tier,
});

describe('a sequence of changes and reversals', () => {
  it('ends in the sum of the ledger, lifetime points, redemptions and tier included', () => {
    fc.assert(
      fc.property(
        anyProgram,
        fc.integer({ min: 0, max: 5 }),
        fc.array(step, { maxLength: 40 }),
        (by, initial, steps) => {
          const ledger = ledgerOf(by, initial);
          for (const each of steps) codeOf(() => each(ledger, by));
          const { begin, rows } = ledger;
          const balance = begin.balance + sum(rows.map(({ delta }) => delta));
          const lifetimePoints = begin.lifetimePoints + sum(rows.map(({ effect }) => effect?.lifetimePoints));
          expect(memberOf(ledger.state())).toEqual({
            balance,
            lifetimePoints,
            redeemedCount: sum(rows.map(({ effect }) => effect?.redeemedCount)),
            tier: tierOf(by, balance, lifetimePoints),
          });
          const standing = rows.filter(({ type, reversedBy }) => type !== 'reversal' && reversedBy === undefined);
          expect(balance).toBe(begin.balance + sum(standing.map(({ delta }) => delta)));
          for (const row of rows) expect(row.current).toBe(row.previous + row.delta);
          expect(ledger.state().ledgerCount).toBe(1 + rows.length);
        },
      ),
    );
  });

  it('returns to the initial state when every ledger entry is reversed, the newest first', () => {
    fc.assert(
      fc.property(
        anyProgram,
        fc.integer({ min: 0, max: 5 }),
        fc.array(change, { maxLength: 25 }),
        (by, initial, steps) => {
          const ledger = ledgerOf(by, initial);
          for (const each of steps) codeOf(() => each(ledger, by));
          for (const index of openRows(ledger).reverse()) ledger.reverse(by, index);
          expect(memberOf(ledger.state())).toEqual(memberOf(ledger.begin));
        },
      ),
    );
  });

  it('returns to the initial state in any order, unless a stamp card is full', () => {
    fc.assert(
      fc.property(
        anyProgram,
        fc.array(step, { maxLength: 20 }),
        fc.infiniteStream(fc.nat(1_000)),
        (by, steps, picks) => {
          const ledger = ledgerOf(by, 2);
          for (const each of steps) codeOf(() => each(ledger, by));
          const isWhole = reverseAll(ledger, by, (count) => picks.next().value % count);
          if (isWhole) expect(memberOf(ledger.state())).toEqual(memberOf(ledger.begin));
          else expect(by.style).toBe('stamps');
        },
      ),
    );
  });

  it('never has a balance below 0, and never reverses a ledger entry twice', () => {
    fc.assert(
      fc.property(anyProgram, fc.array(step, { maxLength: 40 }), (by, steps) => {
        const ledger = ledgerOf(by, 0);
        for (const each of steps) {
          codeOf(() => each(ledger, by));
          expect(ledger.state().balance).toBeGreaterThanOrEqual(0);
          expect(ledger.state().lifetimePoints).toBeGreaterThanOrEqual(0);
        }
        const reversed = ledger.rows.flatMap(({ reverses }) => reverses ?? []);
        expect(new Set(reversed).size).toBe(reversed.length);
        for (const [index, { reversedBy }] of ledger.rows.entries())
          if (reversedBy !== undefined) expect(codeOf(() => ledger.reverse(by, index))).toBe('ALREADY_REVERSED');
      }),
    );
  });
});

describe('a reversal', () => {
  const tiered = program({ style: 'tiered', tiers: tiers(0, 200, 1_000) });

  it('restores the tier that the member had, whatever the current tiers', () => {
    const ledger = ledgerOf(tiered, 250);
    ledger.redeem(tiered);
    expect(ledger.state().tier).toBe('T0');
    const harder = program({ style: 'tiered', tiers: tiers(0, 400, 1_000) });
    ledger.reverse(harder, 0);
    expect(memberOf(ledger.state())).toEqual({ balance: 250, lifetimePoints: 250, redeemedCount: 0, tier: 'T1' });
  });

  it.each(['before', 'after'])('of a change that moved no tier, made %s the tiers changed, moves none', (when) => {
    const ledger = ledgerOf(tiered, 250);
    const renamed = { name: 'Base', threshold: 0 };
    const live = { ...program({ style: 'tiered', tiers: [renamed, { name: 'Top', threshold: 200 }] }), version: 2 };
    ledger.points(when === 'before' ? tiered : live, { delta: 10 });
    ledger.reverse(live, 0);
    expect(memberOf(ledger.state())).toMatchObject({ balance: 250, tier: 'Top' });
    expect(ledger.rows[1]).toMatchObject({ tier: 'Top', previousTier: 'Top' });
  });

  it('is no upgrade when the tier that it restores is a lower one of earlier tiers', () => {
    const before = { ...ledgerOf(tiered, 210).state(), tier: 'Top' };
    const effect = { lifetimePoints: 20, redeemedCount: 0, tier: { before: 'T0', points: 190, tiers: tiers(0, 200) } };
    const { change: undone } = reverse(tiered, before, { type: 'adjust', previous: 190, delta: 20, effect });
    expect(undone).toMatchObject({ tier: 'T0', previousTier: 'Top', tierUpgraded: false });
  });

  it('follows the rules of its ledger entry when other changes remain', () => {
    const ledger = ledgerOf(tiered, 0);
    ledger.points(tiered, { delta: 150 });
    ledger.points(tiered, { delta: 100 });
    expect(ledger.state().tier).toBe('T1');
    ledger.reverse(program({ style: 'tiered', tiers: tiers(0, 50, 1_000) }), 0);
    expect(memberOf(ledger.state())).toMatchObject({ balance: 100, tier: 'T0' });
  });

  it('reduces the lifetime points, and a reversed redeem adds none', () => {
    const ledger = ledgerOf(programs.points, 0);
    ledger.earn(programs.points, 130);
    ledger.redeem(programs.points);
    ledger.reverse(programs.points, 1);
    expect(memberOf(ledger.state())).toMatchObject({ balance: 130, lifetimePoints: 130, redeemedCount: 0 });
    ledger.reverse(programs.points, 0);
    expect(memberOf(ledger.state())).toMatchObject({ balance: 0, lifetimePoints: 0 });
  });

  it('of points that are spent is refused, with the current and the needed balance', () => {
    const ledger = ledgerOf(programs.points, 0);
    ledger.earn(programs.points, 130);
    ledger.redeem(programs.points);
    expect(() => ledger.reverse(programs.points, 0)).toThrow(
      expect.objectContaining({ code: 'BALANCE_TOO_LOW', details: { current: 30, needed: 130 } }),
    );
  });

  it('of a redeem does not overfill a stamp card, unless the earlier goal was as high', () => {
    const ledger = ledgerOf(programs.stamps, 5);
    ledger.redeem(programs.stamps);
    const smaller = program({ style: 'stamps', goal: 4 });
    ledger.points(programs.stamps, { delta: 1 });
    expect(codeOf(() => ledger.reverse(smaller, 0))).toBe('CARD_FULL');
    ledger.reverse(smaller, 1);
    ledger.reverse(smaller, 0);
    expect(ledger.state().balance).toBe(5);
  });

  const effect = { lifetimePoints: 10, redeemedCount: 0 };

  it.each(['reversal', 'expiry', 'initial'] as const)('of a ledger entry of type %s is refused', (type) => {
    const { state } = ledgerOf(programs.points, 10);
    expect(codeOf(() => reverse(programs.points, state(), { type, previous: 0, delta: 10, effect }))).toBe(
      'NOT_REVERSIBLE',
    );
  });

  it.each(['voided', 'expired'] as const)('is refused for a member that is %s', (status) => {
    const before = { ...ledgerOf(programs.points, 10).state(), status };
    expect(codeOf(() => reverse(programs.points, before, { type: 'adjust', previous: 0, delta: 10, effect }))).toBe(
      'MEMBER_NOT_ACTIVE',
    );
  });
});
