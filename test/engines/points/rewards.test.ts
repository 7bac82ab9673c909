// Rewards in addition to the one that costs the goal (docs/interface.md#32-balances-and-rewards), the explanation of a
// balance, and the check of a merchant's ledgers (`npm run merchants -- audit`).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { merchants } from '../../../stack/commands/merchants.js';
import { until } from '../../rig/checks/until.js';
import { runOn } from '../../rig/start/commandLine.js';
import { memberCalls } from '../../rig/start/memberCalls.js';
import { aMerchant, manyMembers, type TestMerchant } from '../../rig/start/merchant.js';
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

const { one, redeem, read, ledgerOf } = memberCalls(() => merchant);

const rewards = [
  { id: 'mug', name: 'Mug', cost: 30 },
  { id: 'old', name: 'Old', cost: 5, active: false },
];

async function aMember(fields: object, initialPoints: number): Promise<string> {
  const program = await merchant.program({ rewards, ...fields });
  return (await merchant.enroll({ programId: program._id, initialPoints })).id;
}

describe('a reward', () => {
  it('costs its price and is named in event and ledger', async () => {
    const memberId = await aMember({}, 40);
    const { body } = await redeem(memberId, { rewardId: 'mug', reference: 'till 3' });
    expect(body.data).toMatchObject({ previous: 40, current: 10 });
    expect((await ledgerOf(memberId))[0]).toMatchObject({ type: 'redeem', delta: -30, rewardId: 'mug' });
    const { data } = await until(() => subscribed.envelopes(memberId)[0]);
    expect(data).toMatchObject({ rewardId: 'mug', rewardName: 'Mug', goal: 30, current: 10, reference: 'till 3' });
    expect(await read(memberId)).toMatchObject({ redeemedCount: 1, balance: 10 });
  });

  it('on a stamp card is subtracted; only the default reward empties the card', async () => {
    const memberId = await aMember({ style: 'stamps', goal: 5, rewards: [{ id: 'cup', name: 'Cup', cost: 3 }] }, 5);
    expect((await redeem(memberId, { rewardId: 'cup' })).body.data.current).toBe(2);
    await merchant.call(`${one(memberId)}/earn`, { method: 'POST', body: { quantity: 3 } });
    expect((await redeem(memberId, { rewardId: 'default' })).body.data.current).toBe(0);
    expect((await ledgerOf(memberId))[0]).toMatchObject({ type: 'redeem', delta: -5, rewardId: 'default' });
    // The events of two changes may arrive in either order.
    const { data } = await until(() => subscribed.envelopes(memberId).find((sent) => sent.data.rewardId === 'default'));
    expect(data).toMatchObject({ rewardName: 'Reward', goal: 5, current: 0 });
  });

  it('that is too expensive, unknown or no longer active is refused', async () => {
    const memberId = await aMember({}, 20);
    const tooDear = await redeem(memberId, { rewardId: 'mug' });
    expect([tooDear.status, tooDear.body.error.code]).toEqual([400, 'BALANCE_TOO_LOW']);
    expect(tooDear.body.error.details).toEqual({ needed: 30, current: 20, missing: 10 });
    for (const rewardId of ['old', 'none', '$ne']) {
      const { status, body } = await redeem(memberId, { rewardId });
      expect([status, body.error.code]).toEqual([400, 'REWARD_NOT_FOUND']);
    }
  });

  it('is listed with the member while it is active, with the missing points', async () => {
    const memberId = await aMember({ goal: 100 }, 40);
    expect((await read(memberId)).rewards).toEqual([
      { id: 'mug', name: 'Mug', cost: 30, ready: true, missing: 0 },
      { id: 'default', name: 'Reward', cost: 100, ready: false, missing: 60 },
    ]);
  });

  it('is shown on the card of the member', async () => {
    const memberId = await aMember({ goal: undefined }, 40);
    const card = await fetch(`${(await read(memberId)).apple.passUrl}.json`);
    expect(((await card.json()) as { rewards: unknown }).rewards).toEqual([
      { name: 'Mug', cost: 30, ready: true, state: 'Ready' },
    ]);
  });

  it('of a program is part of the program that callers read', async () => {
    const earn = { per: 100, points: 1, currency: 'EUR' };
    const program = await merchant.program({ rewards, earn, timeZone: 'Europe/Berlin' });
    const { body } = await merchant.call(`/merchants/me/programs/${program._id}`);
    expect(body.data).toMatchObject({ rewards: program.rewards, earn, timeZone: 'Europe/Berlin' });
  });
});

it('the web card works as soon as the enrollment is answered', async () => {
  const member = await merchant.enroll({ firstName: 'Ada' });
  const card = await fetch(member.apple.passUrl);
  expect([card.status, await card.text()]).toEqual([200, expect.stringContaining(member.memberCode)]);
});

it('a balance is explained', async () => {
  const tiers = [
    { name: 'Bronze', threshold: 0 },
    { name: 'Silver', threshold: 200 },
  ];
  const memberId = await aMember({ style: 'tiered', tiers, goal: undefined }, 50);
  await merchant.call(`${one(memberId)}/points`, { method: 'PATCH', body: { delta: -15 } });
  const { status, body } = await merchant.call(`${one(memberId)}/balance`);
  expect([status, body.data]).toEqual([
    200,
    {
      balance: 35,
      lifetimePoints: 50,
      tier: 'Bronze',
      next: { name: 'Silver', missing: 165 },
      rewards: [{ id: 'mug', name: 'Mug', cost: 30, ready: true, missing: 0 }],
      expiring: [],
      lots: [],
      entries: 2,
      asOf: expect.any(String),
    },
  ]);
  const plain = await merchant.enroll();
  const explained = await merchant.call(`${one(plain.id)}/balance`);
  expect(explained.body.data).toMatchObject({ tier: null, next: null, entries: 0 });
  const unknown = await merchant.call(`${one('11111111-2222-4333-8444-555555555555')}/balance`);
  expect([unknown.status, unknown.body.error.code]).toEqual([404, 'MEMBER_NOT_FOUND']);
});

describe('npm run merchants -- audit', () => {
  const audit = (id: string) => runOn(service, merchants, ['audit', id]);

  it('reports nothing for members whose ledger adds up, after any kind of change', async () => {
    const own = await aMerchant(service);
    const program = await own.program({ rewards, earn: { per: 1, points: 1, currency: 'EUR' } });
    await manyMembers(service.deps, { program, count: 450 });
    const { id } = await own.enroll({ programId: program._id, initialPoints: 20 });
    const change = async (path: string, body: unknown, method = 'POST') =>
      (await own.call(`${one(id)}/${path}`, { method, body })).body.data;
    await change('earn', { amount: 90 });
    await change('redeem', {});
    await change('points', { value: 70 }, 'PATCH');
    const { items } = (await own.call(`${one(id)}/transactions`)).body.data;
    for (const entry of items.slice(0, 2)) await change(`transactions/${entry.id}/reverse`, {});
    expect(await audit(own.id)).toMatchObject({
      code: 0,
      lines: ['451 members, and the ledger of each adds up to what it has'],
    });
    expect(await audit('nobody')).toMatchObject({ code: 0, errors: [] });
  });

  it('names each member whose ledger differs, with exit code 1', async () => {
    const own = await aMerchant(service);
    const [good, wrong, both] = [await own.enroll({ initialPoints: 5 }), await own.enroll(), await own.enroll()];
    const { members } = service.deps.collections;
    await members.updateOne({ _id: wrong.id }, { $set: { balance: 7 } });
    await members.updateOne({ _id: both.id }, { $set: { balance: 1, lifetimePoints: 2 } });
    const { code, lines, errors } = await audit(own.id);
    expect([code, errors]).toEqual([1, ['2 of 3 members differ from their ledger']]);
    expect(lines.sort()).toEqual(
      [
        `${wrong.id} (${wrong.memberCode}): balance is 7, its ledger adds up to 0`,
        `${both.id} (${both.memberCode}): balance is 1, its ledger adds up to 0`,
        `${both.id} (${both.memberCode}): lifetimePoints is 2, its ledger adds up to 0`,
      ].sort(),
    );
    expect(lines.join()).not.toContain(good.id);
  });
});
