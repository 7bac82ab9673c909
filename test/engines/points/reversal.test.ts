// Reversals (docs/interface.md#35-reversals): a ledger entry is undone exactly once and exactly, whatever happened
// since and however old it is. The arithmetic is in test/unit/points/reversal.test.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeMember } from '../../../activities/members/changeMember.writes.js';
import { reversalRule } from '../../../activities/points/reverse.rules.js';
import { newToken } from '../../../schemas/shared/ids.js';
import { until } from '../../rig/checks/until.js';
import { memberCalls, refusal } from '../../rig/start/memberCalls.js';
import { aMerchant, type Call, type TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';
import { type SubscribedService, startSubscribedService } from '../../rig/start/subscribedService.js';

let subscribed: SubscribedService;
let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  subscribed = await startSubscribedService(['points.changed', 'reward.redeemed']);
  ({ service, merchant } = subscribed);
});

afterAll(() => subscribed.stop());

const { one, points, redeem, reverse, read, ledgerOf } = memberCalls(() => merchant);
const newestOf = async (memberId: string) => (await ledgerOf(memberId))[0];

const tiers = [
  { name: 'Bronze', threshold: 0 },
  { name: 'Silver', threshold: 200 },
];

describe('a reversal', () => {
  it('of points undoes exactly their effect, with the same values in answer, ledger and event', async () => {
    const program = await merchant.program({ style: 'tiered', tiers, basis: 'lifetime' });
    const member = await merchant.enroll({ programId: program._id, initialPoints: 150 });
    await points(member.id, { delta: 60, reference: 'receipt 7' });
    const entry = await newestOf(member.id);
    expect(entry).toMatchObject({ tier: 'Silver', reference: 'receipt 7', rule: { programVersion: 1 } });
    const { status, body } = await reverse(member.id, entry.id, {
      body: { reason: 'wrong customer', changeMessage: 'Corrected' },
    });
    expect(status).toBe(200);
    const reversal = {
      type: 'reversal',
      field: 'points',
      previous: 210,
      current: 150,
      delta: -60,
      tier: 'Bronze',
      previousTier: 'Silver',
      changeMessage: 'Corrected',
      reverses: entry.id,
      reason: 'wrong customer',
      rule: { programVersion: 1 },
    };
    expect(body.data).toMatchObject({
      member: { id: member.id, memberCode: member.memberCode, fieldValues: { points: 150 }, balance: 150 },
      previous: 210,
      current: 150,
      passUpdate: { apple: { mode: 'stub' } },
      transaction: reversal,
    });
    const [newest, before] = await ledgerOf(member.id);
    expect(newest).toEqual(body.data.transaction);
    expect(before).toEqual({ ...entry, reversedBy: newest.id });
    expect(await service.deps.collections.members.findOne({ _id: member.id })).toMatchObject({
      ...{ balance: 150, lifetimePoints: 150, tier: 'Bronze', redeemedCount: 0, ledgerCount: 3 },
    });
    const event = await until(() => subscribed.envelopes(member.id).find(({ data }) => data.reversalOf));
    expect(event).toMatchObject({
      event: 'points.changed',
      data: {
        ...{ previous: 210, current: 150, delta: -60, tier: 'Bronze', previousTier: 'Silver', tierUpgraded: false },
        changeMessage: 'Corrected',
        reversalOf: { transactionId: entry.id, type: 'adjust' },
        memberVersion: 3,
        passUpdate: body.data.passUpdate,
      },
    });
  });

  it('of a redeem restores the points and the count, does not change the lifetime points, and publishes a points event', async () => {
    const member = await merchant.enroll({ initialPoints: 130 });
    await redeem(member.id);
    const entry = await newestOf(member.id);
    await points(member.id, { delta: 5 });
    expect((await reverse(member.id, entry.id)).body.data).toMatchObject({ previous: 35, current: 135 });
    expect(await read(member.id)).toMatchObject({ balance: 135, redeemedCount: 0 });
    expect(await service.deps.collections.members.findOne({ _id: member.id })).toMatchObject({ lifetimePoints: 135 });
    const event = await until(() => subscribed.envelopes(member.id).find(({ data }) => data.reversalOf));
    expect([event.event, event.data.reversalOf]).toEqual([
      'points.changed',
      { transactionId: entry.id, type: 'redeem' },
    ]);
    const timeline = await merchant.call(`${one(member.id)}/events`);
    expect(timeline.body.data.items).toContainEqual(expect.objectContaining({ type: 'reward_reversed' }));
  });

  it('does not depend on the current rules: the program has another goal and other tiers by now', async () => {
    const program = await merchant.program({ style: 'tiered', tiers, goal: 100 });
    const member = await merchant.enroll({ programId: program._id, initialPoints: 250 });
    await redeem(member.id);
    const entry = await newestOf(member.id);
    expect((await read(member.id)).tier).toBe('Bronze');
    await service.deps.collections.programs.updateOne(
      { _id: program._id },
      {
        $set: {
          goal: 7,
          tiers: [
            { name: 'Bronze', threshold: 0 },
            { name: 'Silver', threshold: 900 },
          ],
        },
      },
    );
    await until(async () => (await read(member.id)).program.goal === 7);
    expect((await reverse(member.id, entry.id)).body.data.current).toBe(250);
    expect(await read(member.id)).toMatchObject({ balance: 250, tier: 'Silver', redeemedCount: 0 });
  });

  it('works years later, without the row of the key', async () => {
    const program = await merchant.program({ style: 'tiered', tiers });
    const member = await merchant.enroll({ programId: program._id, initialPoints: 190 });
    await points(member.id, { delta: 60 });
    await redeem(member.id);
    const rows = await ledgerOf(member.id);
    for (const { id } of rows) await service.deps.collections.idempotencyKeys.deleteOne({ _id: id });
    const [redeemed, added, initial] = await ledgerOf(member.id);
    expect((await reverse(member.id, redeemed.id)).body.data).toMatchObject({ previous: 150, current: 250 });
    expect((await reverse(member.id, added.id)).body.data).toMatchObject({ previous: 250, current: 190 });
    expect(refusal(await reverse(member.id, initial.id))).toEqual([400, 'NOT_REVERSIBLE']);
    expect(await service.deps.collections.members.findOne({ _id: member.id })).toMatchObject({
      ...{ balance: 190, lifetimePoints: 190, redeemedCount: 0, tier: 'Bronze' },
    });
  });
});

describe('a reversal is refused', () => {
  it('a second time, and of a reversal', async () => {
    const member = await merchant.enroll();
    await points(member.id, { delta: 10 });
    const entry = await newestOf(member.id);
    const { body } = await reverse(member.id, entry.id);
    expect(refusal(await reverse(member.id, entry.id))).toEqual([409, 'ALREADY_REVERSED']);
    expect(refusal(await reverse(member.id, body.data.transaction.id))).toEqual([400, 'NOT_REVERSIBLE']);
    expect(await read(member.id)).toMatchObject({ balance: 0 });
  });

  it('when the points are spent, with the current and the needed balance', async () => {
    const member = await merchant.enroll();
    await points(member.id, { delta: 50 });
    const entry = await newestOf(member.id);
    await points(member.id, { value: 30 });
    const answer = await reverse(member.id, entry.id);
    expect(refusal(answer)).toEqual([400, 'BALANCE_TOO_LOW']);
    expect(answer.body.error.details).toEqual({ current: 30, needed: 50 });
    expect(await newestOf(member.id)).toMatchObject({ type: 'adjust', current: 30 });
  });

  it('when a stamp card would overflow', async () => {
    const program = await merchant.program({ style: 'stamps', goal: 3 });
    const member = await merchant.enroll({ programId: program._id, initialPoints: 3 });
    await redeem(member.id);
    const entry = await newestOf(member.id);
    await points(member.id, { delta: 1 });
    expect(refusal(await reverse(member.id, entry.id))).toEqual([400, 'CARD_FULL']);
    await reverse(member.id, (await newestOf(member.id)).id);
    expect((await reverse(member.id, entry.id)).body.data.current).toBe(3);
  });

  it.each(['voided', 'expired'])('for a member that is %s', async (status) => {
    const member = await merchant.enroll();
    await points(member.id, { delta: 10 });
    await merchant.call(`${one(member.id)}/status`, { method: 'PATCH', body: { status } });
    expect(refusal(await reverse(member.id, (await newestOf(member.id)).id))).toEqual([400, 'MEMBER_NOT_ACTIVE']);
  });

  it('for entries that are unknown, of another member, or of another merchant', async () => {
    const [member, other] = [await merchant.enroll(), await merchant.enroll()];
    await points(other.id, { delta: 10 });
    const entry = await newestOf(other.id);
    for (const id of [entry.id, 'unknown', '%24ne', `points:${member.id}:none-there`])
      expect(refusal(await reverse(member.id, id))).toEqual([404, 'TRANSACTION_NOT_FOUND']);
    const stranger = await aMerchant(service);
    const theirs = await stranger.call(`${one(other.id)}/transactions/${entry.id}/reverse`, { method: 'POST' });
    expect(refusal(theirs)).toEqual([404, 'MEMBER_NOT_FOUND']);
    expect((await read(other.id)).balance).toBe(10);
  });

  it.each([
    ['an unknown field', { amount: 1 }],
    ['a reason of 501 characters', { reason: 'x'.repeat(501) }],
    ['a message of 201 characters', { changeMessage: 'x'.repeat(201) }],
  ])('with %s', async (_what, body) => {
    const member = await merchant.enroll();
    await points(member.id, { delta: 10 });
    const answer = await reverse(member.id, (await newestOf(member.id)).id, { body });
    expect(refusal(answer)).toEqual([400, 'VALIDATION_FAILED']);
  });

  it('without the permission to edit members', async () => {
    const member = await merchant.enroll();
    await points(member.id, { delta: 10 });
    const token = await merchant.token({ roleIds: ['viewer'] });
    const credential = { Authorization: `Bearer ${token}` };
    const answer = await reverse(member.id, (await newestOf(member.id)).id, { credential });
    expect(refusal(answer)).toEqual([403, 'PERMISSION_DENIED']);
  });
});

describe('the key of a reversal', () => {
  it('gets the same bytes again, even without the stored answer; another entry with the same key is refused', async () => {
    const member = await merchant.enroll();
    await points(member.id, { delta: 10 });
    await points(member.id, { delta: 20 });
    const [second, first] = await ledgerOf(member.id);
    const headers = { 'Idempotency-Key': `key-${newToken()}` };
    const answer = await reverse(member.id, first.id, { headers });
    const again = await reverse(member.id, first.id, { headers });
    expect([again.text, again.headers.get('Idempotent-Replayed')]).toEqual([answer.text, 'true']);
    expect(refusal(await reverse(member.id, second.id, { headers }))).toEqual([400, 'IDEMPOTENCY_KEY_REUSED']);
    const { idempotencyKeys, events } = service.deps.collections;
    const id = answer.body.data.transaction.id;
    await until(async () => !(await events.findOne({ memberId: member.id, state: 'new' })));
    await service.deps.collections.ledger.updateOne(
      { _id: id },
      { $set: { createdAt: new Date(Date.now() - 60_000) } },
    );
    await idempotencyKeys.deleteOne({ _id: id });
    const late = await reverse(member.id, first.id, { headers });
    expect([late.status, late.body.data.transaction.reverses, late.body.data.current]).toEqual([200, first.id, 20]);
    expect((await read(member.id)).balance).toBe(20);
  });
});

describe('a reversal by reference', () => {
  const reverseBy = (memberId: string, body: unknown, options: Call = {}) =>
    merchant.call(`${one(memberId)}/transactions/reverse`, { method: 'POST', body, ...options });
  const withReference = async (memberId: string, reference: string) =>
    (await merchant.call(`${one(memberId)}/transactions?${new URLSearchParams({ reference })}`)).body.data;

  it('reverses the one entry that is not reversed yet, and the list of this reference shows it', async () => {
    const member = await merchant.enroll();
    const other = await merchant.enroll();
    await points(other.id, { delta: 9, reference: 'Bon 4/7 & 8' });
    await points(member.id, { delta: 30, reference: 'Bon 4/7 & 8' });
    await points(member.id, { delta: 40, reference: 'Bon 4/7' });
    const answer = await reverseBy(member.id, { reference: 'Bon 4/7 & 8', reason: 'returned' });
    expect([answer.status, answer.body.data.current, answer.body.data.transaction.reason]).toEqual([
      200,
      40,
      'returned',
    ]);
    const listed = await withReference(member.id, 'Bon 4/7 & 8');
    expect(listed).toMatchObject({ total: 1, items: [{ delta: 30, reversedBy: answer.body.data.transaction.id }] });
    expect(refusal(await reverseBy(member.id, { reference: 'Bon 4/7 & 8' }))).toEqual([409, 'ALREADY_REVERSED']);
    await points(member.id, { delta: 3, reference: 'Bon 4/7 & 8' });
    expect((await reverseBy(member.id, { reference: 'Bon 4/7 & 8' })).body.data).toMatchObject({ current: 40 });
    expect((await read(other.id)).balance).toBe(9);
  });

  it('refuses a reference of several entries until one remains, an unknown one, and none', async () => {
    const member = await merchant.enroll();
    for (const delta of [5, 7, 11]) await points(member.id, { delta, reference: 'twice' });
    const page = (await merchant.call(`${one(member.id)}/transactions?reference=twice&pageSize=2&page=2`)).body.data;
    expect([page.total, page.items.map(({ delta }: { delta: number }) => delta)]).toEqual([3, [5]]);
    expect(refusal(await reverseBy(member.id, { reference: 'twice' }))).toEqual([409, 'REFERENCE_AMBIGUOUS']);
    const [newest, middle] = (await withReference(member.id, 'twice')).items;
    await reverse(member.id, newest.id);
    await reverse(member.id, middle.id);
    expect((await reverseBy(member.id, { reference: 'twice' })).body.data).toMatchObject({ previous: 5, current: 0 });
    expect(refusal(await reverseBy(member.id, { reference: 'never' }))).toEqual([404, 'TRANSACTION_NOT_FOUND']);
    expect(await withReference(member.id, 'never')).toMatchObject({ items: [], total: 0 });
    for (const body of [{}, { reference: '' }, { reference: { $ne: '' } }])
      expect(refusal(await reverseBy(member.id, body))).toEqual([400, 'VALIDATION_FAILED']);
  });

  it('gets the same bytes again with its key, and only one of many at once succeeds', async () => {
    const member = await merchant.enroll();
    await points(member.id, { delta: 12, reference: 'keyed' });
    const headers = { 'Idempotency-Key': `key-${newToken()}` };
    const [first, again] = [
      await reverseBy(member.id, { reference: 'keyed' }, { headers }),
      await reverseBy(member.id, { reference: 'keyed' }, { headers }),
    ];
    expect([first.status, again.text]).toEqual([200, first.text]);
    await points(member.id, { delta: 12, reference: 'rush' });
    const answers = await Promise.all(Array.from({ length: 8 }, () => reverseBy(member.id, { reference: 'rush' })));
    const codes = answers.map(({ status, body }) => `${status} ${body.error?.code ?? 'done'}`).sort();
    expect(codes).toEqual(['200 done', ...Array(7).fill('409 ALREADY_REVERSED')]);
  });
});

describe('concurrent reversals', () => {
  it('of one entry: one succeeds, and all others are refused as already reversed', async () => {
    const member = await merchant.enroll({ initialPoints: 500 });
    await points(member.id, { delta: 10 });
    const entry = await newestOf(member.id);
    const answers = await Promise.all(Array.from({ length: 16 }, () => reverse(member.id, entry.id)));
    const codes = answers.map(({ status, body }) => `${status} ${body.error?.code ?? 'done'}`).sort();
    expect(codes).toEqual(['200 done', ...Array(15).fill('409 ALREADY_REVERSED')]);
    expect((await read(member.id)).balance).toBe(500);
  });

  it('of one entry in several processes, where no mutex helps: one succeeds', async () => {
    const member = await merchant.enroll();
    await points(member.id, { delta: 10 });
    const { id: transactionId } = await newestOf(member.id);
    const deps = { ...service.deps, runExclusive: <T>(_key: string, work: () => Promise<T>) => work() };
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) => {
        const id = `reverse:${member.id}:key-${index}-${newToken()}`;
        const actor = { type: 'user' as const, id: 'tester' };
        return changeMember(deps, {
          merchantId: merchant.id,
          memberId: member.id,
          keyedChange: { id, fingerprint: 'same', answer: () => ({ status: 200, body: Buffer.from('{}') }) },
          chooseLeaseOwner: () => null,
          temporalAvailable: true,
          decide: reversalRule(deps, { entry: { _id: transactionId }, reversalId: id, actor, now: new Date() }),
        });
      }),
    );
    const codes = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'done' : outcome.reason.code)).sort();
    expect(codes).toEqual([...Array(7).fill('ALREADY_REVERSED'), 'done']);
    expect(await ledgerOf(member.id)).toHaveLength(2);
    expect((await read(member.id)).balance).toBe(0);
  });
});
