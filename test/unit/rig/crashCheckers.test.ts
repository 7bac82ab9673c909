// Constructed cases for the crash checkers: one that keeps every rule, and one for each way to break a rule.
import { describe, expect, it } from 'vitest';
import { check, duplicatesOf, type Finding } from '../../crash/checkers.js';
import type { Evidence, Operation } from '../../crash/evidence.js';

const keyedChangeId = 'points:m1:key-1';

const enrolled: Operation = {
  ...{ kind: 'enroll', outcome: 'acknowledged', requests: 1, memberId: '', bodies: [], surprises: [] },
  people: [{ email: 'a@example.com', initialPoints: 10 }],
};
const keyedChange: Operation = {
  ...{ kind: 'delta', outcome: 'acknowledged', requests: 2, memberId: 'm1', surprises: [] },
  keyedChangeId,
  answered: { previous: 10, current: 15 },
  bodies: ['same', 'same'],
};
const voided: Operation = {
  ...{ kind: 'status', outcome: 'acknowledged', requests: 1, memberId: 'm1', bodies: [], surprises: [] },
  status: 'voided',
};
const tagged: Operation = {
  ...{ kind: 'tag', outcome: 'acknowledged', requests: 1, memberId: 'm1', bodies: [], surprises: [] },
  tag: 'gold',
};

/**
 * A case without errors: one member, enrolled with 10 points, given 5, voided and tagged, with events for one receiver.
 */
function good(): Evidence {
  const base = { memberId: 'm1', published: true, internal: false };
  const events: Evidence['events'] = [
    { ...base, id: 'e1', type: 'member.created', memberVersion: 1 },
    { ...base, id: 'e2', type: 'pass.created', memberVersion: 1, platform: 'apple' },
    { ...base, id: 'e3', type: 'pass.created', memberVersion: 1, platform: 'google' },
    { ...base, id: 'e4', type: 'points.changed', memberVersion: 2, previous: 10, current: 15 },
    {
      ...base,
      id: 'e5',
      type: 'member.updated',
      memberVersion: 3,
      changed: ['status'],
      status: 'voided',
      previousStatus: 'active',
      tags: [],
    },
    {
      ...base,
      id: 'e6',
      type: 'member.updated',
      memberVersion: 4,
      changed: ['tags'],
      status: 'voided',
      tags: ['gold'],
    },
  ];
  return {
    operations: [enrolled, keyedChange, voided, tagged].map((operation) => structuredClone(operation)),
    members: [
      {
        id: 'm1',
        email: 'a@example.com',
        balance: 15,
        status: 'voided',
        tags: ['gold'],
        goal: 100,
        resets: false,
        lifetimePoints: 15,
        redeemedCount: 0,
      },
    ],
    ledger: [
      {
        ...{ id: 'enroll:m1', memberId: 'm1', type: 'initial', previous: 0, current: 10, delta: 10, memberVersion: 1 },
        ...{ lifetime: 10, redeemed: 0 },
      },
      {
        id: keyedChangeId,
        memberId: 'm1',
        type: 'adjust',
        previous: 10,
        current: 15,
        delta: 5,
        memberVersion: 2,
        eventId: 'e4',
        lifetime: 5,
        redeemed: 0,
      },
    ],
    events,
    deliveries: events.map(({ id }) => ({ id: `d-${id}`, eventId: id, subscriptionId: 's1', state: 'succeeded' })),
    subscriptions: [{ id: 's1', name: 'good', events: ['*'], steady: true }],
    receipts: events.map(({ id }) => ({
      subscriptionId: 's1',
      eventId: id,
      bytes: `b-${id}`,
      signed: true,
      accepted: true,
    })),
    workflows: [
      { id: 'relay:0', type: 'relay', status: 'RUNNING' },
      { id: keyedChangeId, type: 'announceChange', status: 'COMPLETED' },
    ],
    feeds: [events.map(({ id }) => id)],
  };
}

const first = <T>(list: T[], where: (item: T) => boolean = () => true): T => {
  const found = list.find(where);
  if (found === undefined) throw new Error('The made-up case lacks it.');
  return found;
};

type Break = (evidence: Evidence) => void;

const broken: [string, Finding['kind'], Break][] = [
  ['an event that a reader of the feed never gets', 'lost', ({ feeds }) => first(feeds).splice(2, 1)],
  ['an event that a reader of the feed gets twice', 'doubled', ({ feeds }) => first(feeds).push('e2')],
  ['an acknowledged change without its row', 'lost', ({ ledger }) => ledger.splice(1, 1)],
  [
    'a refused change with a row',
    'doubled',
    ({ operations }) =>
      Object.assign(
        first(operations, (o) => o.kind === 'delta'),
        { outcome: 'refused' },
      ),
  ],
  [
    'a row that nobody asked for',
    'doubled',
    ({ ledger }) => ledger.push({ ...first(ledger, (r) => r.id === keyedChangeId), id: 'random', memberVersion: 9 }),
  ],
  [
    'a broken chain',
    'wrong',
    ({ ledger }) =>
      Object.assign(
        first(ledger, (r) => r.id === keyedChangeId),
        { previous: 9, delta: 6 },
      ),
  ],
  [
    'a delta that is not the difference',
    'wrong',
    ({ ledger }) =>
      Object.assign(
        first(ledger, (r) => r.id === keyedChangeId),
        { delta: 4 },
      ),
  ],
  ['a balance that is not the last row', 'wrong', ({ members }) => Object.assign(first(members), { balance: 16 })],
  [
    'a redeem below the goal',
    'wrong',
    ({ ledger }) =>
      Object.assign(
        first(ledger, (r) => r.id === keyedChangeId),
        { type: 'redeem' },
      ),
  ],
  [
    'two answers to one key',
    'wrong',
    ({ operations }) => first(operations, (o) => o.kind === 'delta').bodies.push('other'),
  ],
  [
    'an answer that the ledger does not know',
    'wrong',
    ({ operations }) =>
      Object.assign(
        first(operations, (o) => o.kind === 'delta'),
        { answered: { previous: 0, current: 5 } },
      ),
  ],
  ['a row without its event', 'lost', ({ events }) => events.splice(3, 1)],
  [
    'an event without its row',
    'doubled',
    ({ events }) => events.push({ ...first(events, (e) => e.id === 'e4'), id: 'e9' }),
  ],
  ['an acknowledged enrollment without a member', 'lost', (evidence) => Object.assign(evidence, { members: [] })],
  ['a member enrolled twice', 'doubled', ({ members }) => members.push({ ...first(members), id: 'm2' })],
  [
    'a member that nobody enrolled',
    'doubled',
    ({ members }) => members.push({ ...first(members), id: 'm2', email: 'b@example.com' }),
  ],
  [
    'a pass with two events',
    'doubled',
    ({ events }) => events.push({ ...first(events, (e) => e.id === 'e2'), id: 'e9' }),
  ],
  ['a pass without an event', 'lost', ({ events }) => events.splice(1, 1)],
  ['a status change that was lost', 'lost', ({ events }) => events.splice(4, 1)],
  [
    'a status change that nobody asked for',
    'doubled',
    ({ events }) =>
      events.push({ ...first(events, (e) => e.id === 'e5'), id: 'e9', memberVersion: 9, previousStatus: 'voided' }),
  ],
  ['a tag that was lost', 'lost', ({ members }) => Object.assign(first(members), { tags: [] })],
  ['a tag without an event', 'lost', ({ events }) => events.splice(5, 1)],
  ['an event left in the outbox', 'lost', ({ events }) => Object.assign(first(events), { published: false })],
  ['an event that no receiver got', 'lost', ({ receipts }) => receipts.splice(0, 1)],
  ['an event that was never tried', 'lost', ({ deliveries }) => deliveries.splice(0, 1)],
  ['a delivery left retrying', 'lost', ({ deliveries }) => Object.assign(first(deliveries), { state: 'retrying' })],
  [
    'a second delivery of one event',
    'doubled',
    ({ deliveries }) => deliveries.push({ ...first(deliveries), id: 'other' }),
  ],
  ['a webhook about nothing', 'doubled', ({ receipts }) => receipts.push({ ...first(receipts), eventId: 'e9' })],
  ['copies with other bytes', 'wrong', ({ receipts }) => receipts.push({ ...first(receipts), bytes: 'other' })],
  ['a webhook that is not signed', 'wrong', ({ receipts }) => Object.assign(first(receipts), { signed: false })],
  [
    'a workflow left running',
    'wrong',
    ({ workflows }) =>
      Object.assign(
        first(workflows, (w) => w.type !== 'relay'),
        { status: 'RUNNING' },
      ),
  ],
  [
    'a workflow that failed',
    'wrong',
    ({ workflows }) => workflows.push({ id: 'delivery:e1:s1', type: 'deliverWebhook', status: 'FAILED' }),
  ],
  ['a relay that is gone', 'wrong', ({ workflows }) => Object.assign(first(workflows), { status: 'FAILED' })],
  ['an answer that no contract knows', 'wrong', ({ operations }) => first(operations).surprises.push('500')],
];

describe('the crash checkers', () => {
  it('find nothing when every rule is kept', () => {
    expect(check(good())).toEqual([]);
  });

  it.each(broken)('find %s: %s', (_, kind, breakIt) => {
    const evidence = good();
    breakIt(evidence);
    expect(check(evidence).map((finding) => finding.kind)).toContain(kind);
  });

  it('allow an indeterminate change to be applied or not', () => {
    const evidence = good();
    for (const operation of evidence.operations) operation.outcome = 'indeterminate';
    evidence.operations.push({
      ...keyedChange,
      outcome: 'indeterminate',
      keyedChangeId: 'points:m1:key-2',
      bodies: [],
    });
    expect(check(evidence)).toEqual([]);
  });

  it('allow a delivery that was exhausted, as its log says', () => {
    const evidence = good();
    evidence.subscriptions.push({ id: 's2', name: 'bad', events: ['points.changed'], steady: false });
    evidence.deliveries.push({ id: 'd', eventId: 'e4', subscriptionId: 's2', state: 'exhausted' });
    evidence.workflows.push({ id: 'delivery:e4:s2', type: 'deliverWebhook', status: 'FAILED' });
    expect(check(evidence)).toEqual([]);
  });

  it('count a second accepted copy as a duplicate, which is no error', () => {
    const evidence = good();
    evidence.receipts.push({ ...first(evidence.receipts) }, { ...first(evidence.receipts), accepted: false });
    expect(duplicatesOf(evidence)).toBe(1);
    expect(check(evidence)).toEqual([]);
  });
});

describe('the checker of expiry', () => {
  const over = 1_000;
  /** The good case, preceded by 7 points that expired. */
  function expired(): Evidence {
    const evidence = good();
    const rowIds: [string, number, number, number][] = [
      ['adjust', 15, 22, 7],
      ['expiry', 22, 15, -7],
    ];
    for (const [index, [type, previous, current, delta]] of rowIds.entries()) {
      const [eventId, id, memberVersion] = [`e${7 + index}`, `${type}-1`, 5 + index];
      const lots = [{ by: delta, at: over }];
      const row = { id, type: type as 'adjust' | 'expiry', previous, current, delta, memberVersion, eventId, lots };
      const lifetime = Math.max(delta, 0);
      evidence.ledger.push({ ...row, memberId: 'm1', redeemed: 0, lifetime, createdAt: over + index });
      const event = { memberId: 'm1', published: true, internal: false, previous, current, memberVersion };
      evidence.events.push({ ...event, id: eventId, type: 'points.changed' });
      evidence.deliveries.push({ id: `d-${eventId}`, eventId, subscriptionId: 's1', state: 'succeeded' });
      evidence.receipts.push({ subscriptionId: 's1', eventId, bytes: eventId, signed: true, accepted: true });
      for (const feed of evidence.feeds) feed.push(eventId);
    }
    evidence.operations.push({ ...keyedChange, keyedChangeId: 'adjust-1', answered: { previous: 15, current: 22 } });
    const before = first(evidence.ledger, ({ memberVersion }) => memberVersion === 1);
    const after = first(evidence.ledger, ({ memberVersion }) => memberVersion === 2);
    for (const row of [before, after]) row.lots = [{ by: row.delta, at: 9_000 }];
    const member = first(evidence.members);
    member.lots = [{ left: 15, at: 9_000 }];
    member.lifetimePoints += 7;
    return { ...evidence, collectedAt: 5_000 };
  }
  const expiryOf = ({ ledger }: Evidence) => first(ledger, ({ type }) => type === 'expiry');
  const memberOf = ({ members }: Evidence) => first(members);
  const rule = 'points expire once, when their time is over';

  it('finds nothing about points that expired in time', () => {
    expect(check(expired())).toEqual([]);
  });

  it.each<[string, Finding['kind'], Break]>([
    ['points that are still there', 'lost', (evidence) => Object.assign(evidence, { collectedAt: 9_000 })],
    [
      'points that expired before their time',
      'lost',
      (evidence) => Object.assign(expiryOf(evidence), { createdAt: 1 }),
    ],
    [
      'points that are gone without an expiry',
      'lost',
      (evidence) => evidence.ledger.splice(evidence.ledger.indexOf(expiryOf(evidence)), 1),
    ],
    [
      'an expiry that was made twice',
      'doubled',
      (evidence) => evidence.ledger.push({ ...expiryOf(evidence), id: 'expiry-2', memberVersion: 7 }),
    ],
    ['lots that are not the balance', 'wrong', (evidence) => Object.assign(memberOf(evidence), { balance: 14 })],
  ])('finds %s: %s', (_, kind, breakIt) => {
    const evidence = expired();
    breakIt(evidence);
    expect(check(evidence)).toContainEqual(expect.objectContaining({ kind, rule }));
  });
});

describe('the checker of the overview', () => {
  const exact = { enrolled: 1, points: 15, redeems: 0, deliveries: 6, deliveriesInLog: 6 };

  it('finds nothing when everything is counted once', () => {
    expect(check({ ...good(), counted: exact })).toEqual([]);
  });

  it.each([
    ['an event that was counted twice', 'doubled', { points: 20 }],
    ['an event that was not counted', 'lost', { points: 10 }],
    ['an enrollment that was not counted', 'lost', { enrolled: 0 }],
    ['a redeem that was not there', 'doubled', { redeems: 1 }],
    ['a delivery that was counted twice', 'doubled', { deliveries: 7 }],
  ])('finds %s: %s', (_, kind, wrong) => {
    const rule = 'the overview counts each thing exactly once';
    const found = check({ ...good(), counted: { ...exact, ...wrong } });
    expect(found).toEqual([expect.objectContaining({ kind, rule })]);
  });
});

describe('the checkers of reversals and earnings', () => {
  /** The good case, preceded by 7 points that were earned and reversed. */
  function reversed(): Evidence {
    const evidence = good();
    const both = [
      {
        id: 'earn:m1:key-2',
        type: 'earn' as const,
        previous: 15,
        current: 22,
        delta: 7,
        memberVersion: 5,
        lifetime: 7,
      },
      {
        id: 'reverse:m1:key-3',
        type: 'reversal' as const,
        previous: 22,
        current: 15,
        delta: -7,
        memberVersion: 6,
        lifetime: -7,
      },
    ];
    for (const [index, row] of both.entries()) {
      const eventId = `e${7 + index}`;
      evidence.ledger.push({ ...row, memberId: 'm1', redeemed: 0, eventId });
      const { previous, current, memberVersion } = row;
      const event = { memberId: 'm1', published: true, internal: false, previous, current, memberVersion };
      evidence.events.push({ ...event, id: eventId, type: 'points.changed' });
      evidence.deliveries.push({ id: `d-${eventId}`, eventId, subscriptionId: 's1', state: 'succeeded' });
      evidence.receipts.push({ subscriptionId: 's1', eventId, bytes: eventId, signed: true, accepted: true });
      for (const feed of evidence.feeds) feed.push(eventId);
      const kind = row.type === 'earn' ? ('earn' as const) : ('reverse' as const);
      evidence.operations.push({ ...keyedChange, kind, keyedChangeId: row.id, answered: { previous, current } });
    }
    Object.assign(rowOf(evidence, 'earn:m1:key-2'), { reversedBy: 'reverse:m1:key-3', soldOn: '2026-11-23' });
    Object.assign(rowOf(evidence, 'reverse:m1:key-3'), { reverses: 'earn:m1:key-2' });
    Object.assign(first(evidence.members), { dailyLimit: 5 });
    return evidence;
  }
  const rowOf = ({ ledger }: Evidence, id: string) => first(ledger, (row) => row.id === id);
  const exact = 'a ledger entry is reversed at most once, and exactly';

  it('find nothing about an earning that was reversed', () => {
    expect(check(reversed())).toEqual([]);
  });

  it.each<[string, Finding['kind'], Break]>([
    [
      'a row that is reversed twice',
      'doubled',
      (evidence) =>
        evidence.ledger.push({ ...rowOf(evidence, 'reverse:m1:key-3'), id: 'reverse:m1:key-4', memberVersion: 7 }),
    ],
    [
      'a reversal of another amount',
      'wrong',
      (evidence) => Object.assign(rowOf(evidence, 'reverse:m1:key-3'), { delta: -6 }),
    ],
    [
      'a reversal that leaves the lifetime points',
      'wrong',
      (evidence) => Object.assign(rowOf(evidence, 'reverse:m1:key-3'), { lifetime: 0 }),
    ],
    [
      'a reversal of nothing',
      'wrong',
      (evidence) => Object.assign(rowOf(evidence, 'reverse:m1:key-3'), { reverses: 'x' }),
    ],
    [
      'a row whose reversal is gone',
      'lost',
      (evidence) => evidence.ledger.splice(evidence.ledger.indexOf(rowOf(evidence, 'reverse:m1:key-3')), 1),
    ],
    ['lifetime points without a row', 'wrong', ({ members }) => Object.assign(first(members), { lifetimePoints: 16 })],
    ['a redemption without a row', 'wrong', ({ members }) => Object.assign(first(members), { redeemedCount: 1 })],
  ])('find %s: %s', (_, kind, breakIt) => {
    const evidence = reversed();
    breakIt(evidence);
    expect(check(evidence)).toContainEqual(expect.objectContaining({ kind, rule: exact }));
  });

  it('find a day on which more was earned than is allowed', () => {
    const evidence = reversed();
    delete rowOf(evidence, 'earn:m1:key-2').reversedBy;
    expect(check(evidence)).toContainEqual(
      expect.objectContaining({ kind: 'wrong', rule: 'nobody earns more on a day than is allowed' }),
    );
  });
});
