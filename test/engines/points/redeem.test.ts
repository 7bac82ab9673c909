// Redeeming (docs/interface.md, sections 3.2 and 4.4): only a full card, for the price of its goal, once.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import type { Answer, Call, TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';
import { type SubscribedService, startSubscribedService } from '../../rig/start/subscribedService.js';

let subscribed: SubscribedService;
let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  subscribed = await startSubscribedService(['reward.redeemed']);
  ({ service, merchant } = subscribed);
});

afterAll(() => subscribed.stop());

const redeem = (memberId: string, call: Call = {}): Promise<Answer> =>
  merchant.call(`/merchants/me/members/${memberId}/redeem`, { method: 'POST', ...call });

const read = async (memberId: string) => (await merchant.call(`/merchants/me/members/${memberId}`)).body.data;
const ledgerOf = async (memberId: string) =>
  (await merchant.call(`/merchants/me/members/${memberId}/transactions`)).body.data.items;
const eventsOf = (memberId: string) => until(() => subscribed.envelopes(memberId)[0]);

describe('a reward', () => {
  it('costs the goal, with the same values in answer, ledger, event and counter', async () => {
    const member = await merchant.enroll({ initialPoints: 130 });
    const { status, body } = await redeem(member.id, { body: { changeMessage: 'Enjoy your coffee' } });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      member: { id: member.id, memberCode: member.memberCode, fieldValues: { points: 30 } },
      previous: 130,
      current: 30,
      passUpdate: { serialNumber: member.serialNumber, apple: { mode: 'stub' }, google: { mode: 'stub' } },
    });
    expect((await ledgerOf(member.id))[0]).toMatchObject({
      type: 'redeem',
      field: 'points',
      previous: 130,
      current: 30,
      delta: -100,
      changeMessage: 'Enjoy your coffee',
      actor: { type: 'api-key' },
    });
    expect((await eventsOf(member.id)).data).toEqual({
      memberId: member.id,
      memberCode: member.memberCode,
      programId: member.programId,
      merchantId: merchant.id,
      memberVersion: 2,
      ...{ transactionId: body.data.transaction.id, transactionType: 'redeem' },
      field: 'points',
      previous: 130,
      current: 30,
      goal: 100,
      changeMessage: 'Enjoy your coffee',
      actor: body.data.transaction.actor,
      passUpdate: body.data.passUpdate,
    });
    expect(await read(member.id)).toMatchObject({ redeemedCount: 1, fieldValues: { points: 30 } });
    const timeline = await merchant.call(`/merchants/me/members/${member.id}/events`);
    expect(timeline.body.data.items).toContainEqual(
      expect.objectContaining({ type: 'reward_redeemed', outcome: 'success' }),
    );
  });

  it('can be redeemed again as long as the balance is high enough, and each time is counted', async () => {
    const member = await merchant.enroll({ initialPoints: 250 });
    expect((await redeem(member.id)).body.data.current).toBe(150);
    expect((await redeem(member.id)).body.data.current).toBe(50);
    const refused = await redeem(member.id);
    expect(refused.status).toBe(400);
    expect(refused.body.error).toMatchObject({
      code: 'CARD_NOT_FULL',
      details: { goal: 100, current: 50, missing: 50 },
    });
    expect(await read(member.id)).toMatchObject({ redeemedCount: 2, fieldValues: { points: 50 } });
  });

  it('is refused when one point is missing, and changes nothing', async () => {
    const member = await merchant.enroll({ initialPoints: 99 });
    const { status, body } = await redeem(member.id);
    expect([status, body.error.code, body.error.details.missing]).toEqual([400, 'CARD_NOT_FULL', 1]);
    expect(await service.deps.collections.members.findOne({ _id: member.id })).toMatchObject({
      balance: 99,
      version: 1,
    });
  });

  it('is refused when the program has none', async () => {
    const program = await merchant.program({ goal: undefined });
    const member = await merchant.enroll({ programId: program._id, initialPoints: 500 });
    const { status, body } = await redeem(member.id);
    expect([status, body.error.code]).toEqual([400, 'REWARD_NOT_CONFIGURED']);
  });

  it('is refused for a member that is not active', async () => {
    const member = await merchant.enroll({ initialPoints: 500 });
    await merchant.call(`/merchants/me/members/${member.id}/status`, { method: 'PATCH', body: { status: 'voided' } });
    const { status, body } = await redeem(member.id);
    expect([status, body.error.code]).toEqual([400, 'MEMBER_NOT_ACTIVE']);
  });

  it('for a member that does not exist is 404', async () => {
    const { status, body } = await redeem('11111111-2222-4333-8444-555555555555');
    expect([status, body.error.code]).toEqual([404, 'MEMBER_NOT_FOUND']);
  });

  it('lowers a tier on the balance, and the answer reports it', async () => {
    const tiers = [
      { name: 'Bronze', threshold: 0 },
      { name: 'Gold', threshold: 500 },
    ];
    const program = await merchant.program({ style: 'tiered', goal: 500, tiers });
    const member = await merchant.enroll({ programId: program._id, initialPoints: 600 });
    await redeem(member.id);
    expect((await eventsOf(member.id)).data).toMatchObject({
      previousTier: 'Gold',
      tier: 'Bronze',
      tierUpgraded: false,
    });
  });
});

describe('a stamp card', () => {
  it('is redeemed when it is full, and starts at zero again', async () => {
    const program = await merchant.program({ style: 'stamps', fields: { primaryLabel: 'STAMPS' }, goal: 3 });
    const member = await merchant.enroll({ programId: program._id, initialPoints: 2 });
    expect((await redeem(member.id)).body.error).toMatchObject({ code: 'CARD_NOT_FULL', details: { missing: 1 } });
    await merchant.call(`/merchants/me/members/${member.id}/points`, { method: 'PATCH', body: { delta: 1 } });
    const { body } = await redeem(member.id);
    expect(body.data).toMatchObject({ previous: 3, current: 0, member: { fieldValues: { stamps: 0 } } });
    expect((await eventsOf(member.id)).data).toMatchObject({ field: 'stamps', previous: 3, current: 0, goal: 3 });
  });
});

describe('the body', () => {
  it('may be left out, with or without a content type, or be empty', async () => {
    const member = await merchant.enroll({ initialPoints: 1_000 });
    const json = { 'Content-Type': 'application/json' };
    for (const call of [{}, { headers: json }, { body: {} }, { headers: json, body: '' }])
      expect((await redeem(member.id, call)).status).toBe(200);
    expect((await read(member.id)).fieldValues.points).toBe(600);
  });

  it.each([
    ['a message of 201 characters', { changeMessage: 'x'.repeat(201) }],
    ['an unknown field', { amount: 1 }],
    ['a list', []],
    ['a message that is none', { changeMessage: 7 }],
  ])('with %s is refused and changes nothing', async (_what, body) => {
    const member = await merchant.enroll({ initialPoints: 100 });
    const answer = await redeem(member.id, { body });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect((await read(member.id)).fieldValues.points).toBe(100);
  });
});

describe('concurrent redeems', () => {
  it('never spend a point twice: of 20 concurrent redeems of a balance for 7, exactly 7 succeed', async () => {
    const member = await merchant.enroll({ initialPoints: 799 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => redeem(member.id)));
    const codes = answers.map((answer) => answer.body.error?.code ?? 'done').sort();
    expect(codes).toEqual([...Array(13).fill('CARD_NOT_FULL'), ...Array(7).fill('done')]);
    expect(await read(member.id)).toMatchObject({ redeemedCount: 7, fieldValues: { points: 99 } });
  });
});
