// The counters that events add to the overview.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCounting } from '../../../activities/stats/counting.writes.js';
import { type Counts, countNames, countsOf, presentCounts } from '../../../schemas/stats/stats.schema.js';

const changed = (data: Record<string, unknown>) => countsOf({ type: 'points.changed', data });

describe('an event', () => {
  it.each<[string, Counts, Counts]>([
    ['points that are added are given', changed({ delta: 7 }), { 'points.given': 7 }],
    [
      'points that are taken without a reward are a correction',
      countsOf({ type: 'points.changed', data: { delta: -7 }, corrects: true }),
      { 'points.corrected': -7 },
    ],
    [
      'a reversed correction corrects nothing',
      countsOf({
        type: 'points.changed',
        data: { delta: 7, reversalOf: { transactionId: 'x', type: 'adjust' } },
        corrects: true,
      }),
      { 'points.corrected': 7 },
    ],
    ['points whose time is over expire', changed({ delta: -7, reason: 'expired' }), { 'points.expired': 7 }],
    [
      'a reversed earning was not given',
      changed({ delta: -7, reversalOf: { transactionId: 'x', type: 'earn' } }),
      { 'points.given': -7 },
    ],
    [
      'a reversed redeem was not spent, and is no redeem',
      changed({ delta: 100, reversalOf: { transactionId: 'x', type: 'redeem' } }),
      { 'points.spent': -100, redeems: -1 },
    ],
    [
      'a redeem spends what the balance lost',
      countsOf({ type: 'reward.redeemed', data: { previous: 12, current: 0, goal: 10 } }),
      { redeems: 1, 'points.spent': 12 },
    ],
    [
      'an enrollment gives its first points',
      countsOf({ type: 'member.created', data: {}, initialPoints: 5 }),
      { 'members.enrolled': 1, 'members.joined': 1, 'points.given': 5 },
    ],
    [
      'a pass is installed in its wallet',
      countsOf({ type: 'pass.installed', data: { platform: 'apple' } }),
      { 'installs.apple': 1 },
    ],
    [
      'a pass is removed from its wallet',
      countsOf({ type: 'pass.removed', data: { platform: 'google' } }),
      { 'removals.google': 1 },
    ],
    ['a person is erased', countsOf({ type: 'member.deleted', data: {} }), { 'members.erased': 1 }],
    ['a push counts nothing', countsOf({ type: 'pass.push', data: {} }), {}],
  ])('%s', (_title, counts, expected) => {
    expect(counts).toEqual(expected);
  });

  it('of any kind: what came minus what went is the change of the balances', () => {
    const delta = fc.integer({ min: -1_000, max: 1_000 });
    const event = fc.oneof(
      delta.map((by) => ({ by, counts: changed({ delta: by }) })),
      delta.map((by) => ({ by, counts: countsOf({ type: 'points.changed', data: { delta: by }, corrects: true }) })),
      delta.map((by) => ({ by: -Math.abs(by), counts: changed({ delta: -Math.abs(by), reason: 'expired' }) })),
      fc.record({ by: delta, type: fc.constantFrom('adjust', 'earn', 'redeem') }).map(({ by, type }) => ({
        by,
        counts: changed({ delta: by, reversalOf: { transactionId: 'x', type } }),
      })),
      fc.nat(1_000).map((by) => ({
        by: -by,
        counts: countsOf({ type: 'reward.redeemed', data: { previous: by, current: 0 } }),
      })),
      fc.nat(1_000).map((by) => ({ by, counts: countsOf({ type: 'member.created', data: {}, initialPoints: by }) })),
    );
    fc.assert(
      fc.property(fc.array(event), (events) => {
        const { points } = presentCounts(events.map(({ counts }) => counts));
        const grown = events.reduce((sum, { by }) => sum + by, 0);
        expect(points.given + points.corrected - points.spent - points.expired).toBe(grown);
      }),
    );
  });
});

describe('the counters', () => {
  it('are all in the answer', () => {
    const one = presentCounts([Object.fromEntries(countNames.map((name) => [name, 1]))]);
    const numbers = (value: unknown): number[] =>
      typeof value === 'number' ? [value] : Object.values(value as object).flatMap(numbers);
    expect(numbers(one)).toEqual(countNames.map(() => 1));
  });

  it('of one writer are one row for each program and month of its time zone, and no row when nothing is counted', async () => {
    // Only what it reads: a whole `Deps` needs engines.
    const deps = {
      collections: { stats: { namespace: 'db.stats' } },
      cached: (_key: string, load: () => unknown) => load(),
      read: {
        program: async ({ _id }: { _id: string }) => ({ ...(_id === 'far' && { timeZone: 'Pacific/Auckland' }) }),
      },
    } as unknown as Parameters<typeof createCounting>[0];
    const { statements } = createCounting(deps);
    const about = { merchantId: 'm', programId: 'p' };
    const counted = [
      { ...about, at: new Date('2026-11-30T23:59:59.999Z'), counts: { redeems: 1, 'points.spent': 10 } },
      { ...about, at: new Date('2026-11-02T00:00:00Z'), counts: { redeems: 2 } },
      { ...about, at: new Date('2026-12-01T00:00:00Z'), counts: { redeems: 4 } },
      { ...about, programId: 'q', at: new Date('2026-12-01T00:00:00Z'), counts: { redeems: 0 } },
      { ...about, programId: 'far', at: new Date('2026-11-30T12:00:00Z'), counts: { redeems: 3 } },
      { ...about, programId: 'far', at: new Date('2026-11-30T12:00:00Z'), day: '2026-12-09', counts: { redeems: 5 } },
    ];
    expect(await statements(counted)).toMatchObject([
      {
        upsert: true,
        update: {
          $setOnInsert: { merchantId: 'm', programId: 'p', month: '2026-11' },
          $inc: { 'days.d30.redeems': 1, 'days.d30.points_spent': 10, 'days.d02.redeems': 2 },
        },
      },
      { update: { $inc: { 'days.d01.redeems': 4 } } },
      { update: { $inc: { 'days.d01.redeems': 3, 'days.d09.redeems': 5 } } },
    ]);
  });
});
