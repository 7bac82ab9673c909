// Points by PATCH (docs/interface.md, sections 2.4, 2.5, 2.6 and 4.4): all rules of the answer, the stored rows and the
// events.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import type { Answer, TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';
import { type SubscribedService, startSubscribedService } from '../../rig/start/subscribedService.js';

let subscribed: SubscribedService;
let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  subscribed = await startSubscribedService(['points.changed']);
  ({ service, merchant } = subscribed);
});

afterAll(() => subscribed.stop());

const patch = (memberId: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  merchant.call(`/merchants/me/members/${memberId}/points`, { method: 'PATCH', body, headers });

const ledgerOf = async (memberId: string) =>
  (await merchant.call(`/merchants/me/members/${memberId}/transactions`)).body.data.items;

const eventsOf = (memberId: string, count = 1) =>
  until(() => {
    const events = subscribed.envelopes(memberId);
    return events.length >= count && events;
  });

describe('a delta', () => {
  it('changes the balance, with the same values in answer, ledger and event', async () => {
    const member = await merchant.enroll({ initialPoints: 20 });
    const { status, body } = await patch(member.id, { delta: 15, changeMessage: 'You now have %@ points' });
    expect(status).toBe(200);
    const [entry] = await ledgerOf(member.id);
    expect(body).toEqual({
      success: true,
      data: {
        transaction: entry,
        member: { id: member.id, memberCode: member.memberCode, fieldValues: { points: 35 }, balance: 35 },
        previous: 20,
        current: 35,
        passUpdate: {
          serialNumber: member.serialNumber,
          lastUpdateTag: expect.any(String),
          rebuilt: false,
          apple: { devicesNotified: 0, devicesAttempted: 0, mode: 'stub' },
          google: { objectPatched: false, mode: 'stub' },
        },
      },
    });
    const change = { field: 'points', previous: 20, current: 35, delta: 15, changeMessage: 'You now have %@ points' };
    expect(entry).toMatchObject({ type: 'adjust', ...change, actor: { type: 'api-key', name: 'test key' } });
    const [event] = await eventsOf(member.id);
    expect(event.data).toEqual({
      memberId: member.id,
      memberCode: member.memberCode,
      programId: member.programId,
      merchantId: merchant.id,
      memberVersion: 2,
      ...{ transactionId: entry.id, transactionType: 'adjust' },
      ...change,
      actor: entry.actor,
      passUpdate: body.data.passUpdate,
    });
    const read = await merchant.call(`/merchants/me/members/${member.id}`);
    expect(read.body.data.fieldValues).toEqual({ points: 35 });
  });

  it('below zero stops at zero, and the answer has the delta that was applied', async () => {
    const member = await merchant.enroll({ initialPoints: 5 });
    const { body } = await patch(member.id, { delta: -50 });
    expect(body.data).toMatchObject({ previous: 5, current: 0 });
    expect((await ledgerOf(member.id))[0]).toMatchObject({ previous: 5, current: 0, delta: -5 });
    expect((await eventsOf(member.id))[0].data.delta).toBe(-5);
  });

  it('of zero changes nothing, with a ledger entry and an event', async () => {
    const member = await merchant.enroll({ initialPoints: 5 });
    const { status, body } = await patch(member.id, { delta: 0 });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ previous: 5, current: 5 });
    expect((await ledgerOf(member.id))[0]).toMatchObject({ type: 'adjust', delta: 0 });
    expect((await eventsOf(member.id))[0].data.delta).toBe(0);
  });

  it('is exact at the limits of the balance, too', async () => {
    const member = await merchant.enroll({ initialPoints: 1_000_000_000 });
    expect((await patch(member.id, { delta: 1_000_000_000 })).body.data.current).toBe(2_000_000_000);
    expect((await patch(member.id, { delta: -1_000_000_000 })).body.data.current).toBe(1_000_000_000);
  });
});

describe('a value', () => {
  it('becomes the balance, and the delta is the difference', async () => {
    const member = await merchant.enroll({ initialPoints: 20 });
    const { body } = await patch(member.id, { value: 7 });
    expect(body.data).toMatchObject({ previous: 20, current: 7, member: { fieldValues: { points: 7 } } });
    expect((await ledgerOf(member.id))[0]).toMatchObject({ delta: -13 });
  });

  it('equal to the balance changes nothing, with a ledger entry and an event', async () => {
    const member = await merchant.enroll({ initialPoints: 20 });
    expect((await patch(member.id, { value: 20 })).body.data).toMatchObject({ previous: 20, current: 20 });
    expect((await ledgerOf(member.id))[0]).toMatchObject({ delta: 0 });
    expect((await eventsOf(member.id))[0].data).toMatchObject({ previous: 20, current: 20, delta: 0 });
  });
});

describe('a request that is refused', () => {
  it.each([
    ['both delta and value', { delta: 1, value: 1 }],
    ['neither', {}],
    ['a message alone', { changeMessage: 'x' }],
    ['a fraction', { delta: 0.5 }],
    ['text for a number', { delta: '1' }],
    ['a negative value', { value: -1 }],
    ['a delta over a billion', { delta: 1_000_000_001 }],
    ['a message of 201 characters', { delta: 1, changeMessage: 'x'.repeat(201) }],
    ['an unknown field', { delta: 1, points: 1 }],
    ['an operator', { delta: { $inc: 1 } }],
    ['no object', [1]],
  ])('for %s names the error and changes nothing', async (_what, sent) => {
    const member = await merchant.enroll({ initialPoints: 20 });
    const { status, body } = await patch(member.id, sent);
    expect(status).toBe(400);
    expect(body).toMatchObject({ success: false, error: { code: 'VALIDATION_FAILED', message: expect.any(String) } });
    expect(body.error.details.length).toBeGreaterThan(0);
    const row = await service.deps.collections.members.findOne({ _id: member.id });
    expect(row).toMatchObject({ balance: 20, version: 1 });
    expect(await ledgerOf(member.id)).toHaveLength(1);
  });

  it('for a member that does not exist is 404', async () => {
    for (const id of ['11111111-2222-4333-8444-555555555555', 'no-uuid', 'x'.repeat(400)]) {
      const { status, body } = await patch(id, { delta: 1 });
      expect(status).toBe(404);
      expect(body.error.code).toBe('MEMBER_NOT_FOUND');
    }
  });

  it.each(['voided', 'expired'])('for a member that is %s changes nothing until it is active again', async (state) => {
    const member = await merchant.enroll({ initialPoints: 20 });
    const setStatus = (status: string) =>
      merchant.call(`/merchants/me/members/${member.id}/status`, { method: 'PATCH', body: { status } });
    await setStatus(state);
    const refused = await patch(member.id, { delta: 1 });
    expect(refused.status).toBe(400);
    expect(refused.body.error.code).toBe('MEMBER_NOT_ACTIVE');
    await setStatus('active');
    expect((await patch(member.id, { delta: 1 })).body.data).toMatchObject({ previous: 20, current: 21 });
  });
});

describe('a stamp program', () => {
  it('accepts one stamp at a time until the card is full', async () => {
    const program = await merchant.program({ style: 'stamps', fields: { primaryLabel: 'STAMPS' }, goal: 2 });
    const member = await merchant.enroll({ programId: program._id });
    for (const wrong of [{ delta: 2 }, { delta: -1 }, { delta: 0 }, { value: 1 }]) {
      const { status, body } = await patch(member.id, wrong);
      expect([status, body.error.code]).toEqual([400, 'STAMP_DELTA_ONLY']);
    }
    expect((await patch(member.id, { delta: 1 })).body.data.member.fieldValues).toEqual({ stamps: 1 });
    expect((await patch(member.id, { delta: 1 })).body.data.current).toBe(2);
    const full = await patch(member.id, { delta: 1 });
    expect([full.status, full.body.error.code]).toEqual([400, 'CARD_FULL']);
    expect(await ledgerOf(member.id)).toHaveLength(2);
  });
});

describe('a tiered program', () => {
  const tiers = [
    { name: 'Bronze', threshold: 0 },
    { name: 'Silver', threshold: 200 },
    { name: 'Gold', threshold: 1_000 },
  ];

  it('reports the old tier, the new tier and whether it rose', async () => {
    const program = await merchant.program({ style: 'tiered', tiers });
    const member = await merchant.enroll({ programId: program._id, initialPoints: 150 });
    expect(member.tier).toBe('Bronze');
    await patch(member.id, { delta: 100 });
    await patch(member.id, { delta: 10 });
    await patch(member.id, { delta: -250 });
    const events = await eventsOf(member.id, 3);
    const tierOf = (version: number) => {
      const event = events.find((entry: { data: { memberVersion: number } }) => entry.data.memberVersion === version);
      const { previousTier, tier, tierUpgraded } = event.data;
      return [previousTier, tier, tierUpgraded];
    };
    expect(tierOf(2)).toEqual(['Bronze', 'Silver', true]);
    expect(tierOf(3)).toEqual(['Silver', 'Silver', false]);
    expect(tierOf(4)).toEqual(['Silver', 'Bronze', false]);
    const ledger = await ledgerOf(member.id);
    expect(ledger[2]).toMatchObject({ previousTier: 'Bronze', tier: 'Silver' });
    expect(ledger[0]).toMatchObject({ previousTier: 'Silver', tier: 'Bronze' });
    expect((await merchant.call(`/merchants/me/members/${member.id}`)).body.data.tier).toBe('Bronze');
  });

  it('on basis lifetime keeps a tier that was reached', async () => {
    const program = await merchant.program({ style: 'tiered', tiers, basis: 'lifetime' });
    const member = await merchant.enroll({ programId: program._id, initialPoints: 250 });
    await patch(member.id, { value: 0 });
    await patch(member.id, { delta: 800 });
    const events = await eventsOf(member.id, 2);
    const tierAt = (version: number) =>
      events.find((entry: { data: { memberVersion: number } }) => entry.data.memberVersion === version).data.tier;
    expect([tierAt(2), tierAt(3)]).toEqual(['Silver', 'Gold']);
  });

  it('below its first tier has no tier', async () => {
    const program = await merchant.program({ style: 'tiered', tiers: tiers.slice(1) });
    const member = await merchant.enroll({ programId: program._id, initialPoints: 300 });
    expect(member.tier).toBe('Silver');
    await patch(member.id, { value: 0 });
    const read = await merchant.call(`/merchants/me/members/${member.id}`);
    expect(read.body.data).not.toHaveProperty('tier');
    const [event] = await eventsOf(member.id);
    expect(event.data).toMatchObject({ previousTier: 'Silver', tierUpgraded: false });
    expect(event.data).not.toHaveProperty('tier');
  });
});

describe('concurrent deltas', () => {
  it('add up exactly: 60 concurrent deltas on one member', async () => {
    const member = await merchant.enroll({ initialPoints: 1_000 });
    const deltas = Array.from({ length: 60 }, (_, index) => (index % 7) - 2);
    const answers = await Promise.all(deltas.map((delta) => patch(member.id, { delta })));
    expect(answers.map((answer) => answer.status)).toEqual(deltas.map(() => 200));
    const sum = deltas.reduce((total, delta) => total + delta, 1_000);
    const row = await service.deps.collections.members.findOne({ _id: member.id });
    expect(row).toMatchObject({ balance: sum, version: 61, ledgerCount: 61 });

    const rows = await service.deps.collections.ledger
      .find({ memberId: member.id })
      .sort({ memberVersion: 1 })
      .toArray();
    expect(rows.map((entry) => entry.memberVersion)).toEqual(Array.from({ length: 61 }, (_, index) => index + 1));
    for (const [index, entry] of rows.entries())
      expect(entry.previous).toBe(index === 0 ? 0 : rows[index - 1]?.current);
    expect(answers.map((answer) => answer.body.data.current).sort()).toEqual(
      rows
        .slice(1)
        .map((entry) => entry.current)
        .sort(),
    );
    const events = await service.deps.collections.events
      .find({ memberId: member.id, type: 'points.changed' })
      .toArray();
    expect(new Set(events.map((event) => event.data.memberVersion)).size).toBe(60);
  });
});
