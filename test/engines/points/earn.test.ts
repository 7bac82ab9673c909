// Earning (docs/interface.md#34-earning): the points of a sale by the rule of the program, with limits that hold for
// concurrent requests. The arithmetic is in test/unit/points/earning.test.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeMember } from '../../../activities/members/changeMember.writes.js';
import { earnRule } from '../../../activities/points/earn.rules.js';
import { earnedReader } from '../../../activities/points/earned.reads.js';
import { calendarDay } from '../../../schemas/shared/calendar.rules.js';
import { newToken } from '../../../schemas/shared/ids.js';
import { until } from '../../rig/checks/until.js';
import { memberCalls, refusal } from '../../rig/start/memberCalls.js';
import type { TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';
import { aUser, signedIn } from '../../rig/start/signIn.js';
import { type SubscribedService, startSubscribedService } from '../../rig/start/subscribedService.js';

let subscribed: SubscribedService;
let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  subscribed = await startSubscribedService(['points.changed', 'reward.redeemed']);
  ({ service, merchant } = subscribed);
});

afterAll(() => subscribed.stop());

const { one, earn, read, ledgerOf, reverse } = memberCalls(() => merchant);

const rule = { per: 100, points: 2, currency: 'EUR' };
const hourMs = 3_600_000;
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();

async function aMember(fields: Record<string, unknown>): Promise<string> {
  const program = await merchant.program(fields);
  return (await merchant.enroll({ programId: program._id })).id;
}

describe('a sale', () => {
  it('adds its points, with the same values in answer, ledger and event', async () => {
    const memberId = await aMember({ earn: rule });
    const occurredAt = ago(hourMs);
    const sale = { reference: 'receipt 20391', location: 'Main Street', occurredAt };
    const { status, body } = await earn(memberId, { amount: 1_275, currency: 'EUR', changeMessage: 'Thanks', ...sale });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      member: { id: memberId, fieldValues: { points: 25 }, balance: 25 },
      ...{ previous: 0, current: 25, awarded: 25, rule: { programVersion: 1 } },
      passUpdate: { apple: { mode: 'stub' } },
    });
    expect((await ledgerOf(memberId))[0]).toMatchObject({
      ...{ type: 'earn', delta: 25, amount: 1_275, currency: 'EUR', changeMessage: 'Thanks', ...sale },
      rule: { programVersion: 1 },
      actor: { type: 'api-key' },
    });
    const [entry] = await ledgerOf(memberId);
    expect(body.data.transaction).toEqual(entry);
    const event = await until(() => subscribed.envelopes(memberId)[0]);
    expect(event).toMatchObject({
      event: 'points.changed',
      data: { delta: 25, current: 25, amount: 1_275, currency: 'EUR', ...sale },
    });
    expect(event.data).toMatchObject({ transactionId: entry.id, transactionType: 'earn' });
  });

  it('that a fast clock dates ahead counts as a sale of the request', async () => {
    const memberId = await aMember({ earn: rule });
    const { status, body } = await earn(memberId, { amount: 100, occurredAt: ago(-4 * 60_000) });
    expect(status).toBe(200);
    expect(Date.parse(body.data.transaction.occurredAt)).toBeLessThanOrEqual(Date.now());
  });

  it('too small for a point succeeds, with a ledger entry', async () => {
    const memberId = await aMember({ earn: rule });
    expect((await earn(memberId, { amount: 49 })).body.data).toMatchObject({ awarded: 0, previous: 0, current: 0 });
    expect((await ledgerOf(memberId))[0]).toMatchObject({ type: 'earn', delta: 0, amount: 49, currency: 'EUR' });
  });

  it('is published with the version of the program that applied', async () => {
    const program = await merchant.program({ earn: rule });
    await service.deps.collections.programs.updateOne({ _id: program._id }, { $set: { version: 7 } as object });
    const { id } = await merchant.enroll({ programId: program._id });
    expect((await earn(id, { amount: 100 })).body.data.rule).toEqual({ programVersion: 7 });
  });

  it('with one key counts once', async () => {
    const memberId = await aMember({ earn: { ...rule, cooldownSeconds: 3_600 } });
    const headers = { 'Idempotency-Key': `key-${newToken()}` };
    const first = await earn(memberId, { amount: 500 }, { headers });
    const again = await earn(memberId, { amount: 500 }, { headers });
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(refusal(await earn(memberId, { amount: 600 }, { headers }))).toEqual([400, 'IDEMPOTENCY_KEY_REUSED']);
    expect((await read(memberId)).balance).toBe(10);
  });

  it.each([
    ['in another currency', { earn: rule }, { amount: 100, currency: 'USD' }, 'CURRENCY_MISMATCH'],
    ['in a program without a rule', {}, { amount: 100 }, 'EARNING_NOT_CONFIGURED'],
    ['without an amount', { earn: rule }, {}, 'VALIDATION_FAILED'],
    ['of a negative amount', { earn: rule }, { amount: -1 }, 'VALIDATION_FAILED'],
    ['of half a cent', { earn: rule }, { amount: 0.5 }, 'VALIDATION_FAILED'],
    ['with stamps for points', { earn: rule }, { amount: 100, quantity: 2 }, 'VALIDATION_FAILED'],
    ['with 11 stamps', { style: 'stamps', goal: 20 }, { quantity: 11 }, 'VALIDATION_FAILED'],
    ['from the future', { earn: rule }, { amount: 100, occurredAt: ago(-hourMs) }, 'VALIDATION_FAILED'],
    ['of four days ago', { earn: rule }, { amount: 100, occurredAt: ago(73 * hourMs) }, 'VALIDATION_FAILED'],
    ['at no time', { earn: rule }, { amount: 100, occurredAt: 'yesterday' }, 'VALIDATION_FAILED'],
    [
      'with a reference of 101 characters',
      { earn: rule },
      { amount: 100, reference: 'x'.repeat(101) },
      'VALIDATION_FAILED',
    ],
  ])('%s is refused and changes nothing', async (_what, fields, body, code) => {
    const memberId = await aMember(fields);
    expect(refusal(await earn(memberId, body))).toEqual([400, code]);
    expect(await ledgerOf(memberId)).toEqual([]);
  });

  it('of a member that is not active is refused', async () => {
    const memberId = await aMember({ earn: rule });
    await merchant.call(`${one(memberId)}/status`, { method: 'PATCH', body: { status: 'voided' } });
    expect(refusal(await earn(memberId, { amount: 100 }))).toEqual([400, 'MEMBER_NOT_ACTIVE']);
  });
});

describe('a stamp program', () => {
  it.each([undefined, {}])('with the rule %j gives one stamp a sale, or as many as were bought', async (own) => {
    const memberId = await aMember({ style: 'stamps', goal: 8, ...(own && { earn: own }) });
    expect((await earn(memberId, undefined)).body.data).toMatchObject({ awarded: 1, current: 1 });
    expect((await earn(memberId, { quantity: 5, amount: 1_990 })).body.data).toMatchObject({ awarded: 5, current: 6 });
    const refused = await earn(memberId, { quantity: 3 });
    expect(refusal(refused)).toEqual([400, 'CARD_FULL']);
    expect(refused.body.error.details).toEqual({ room: 2 });
    expect((await earn(memberId, { quantity: 2 })).body.data.current).toBe(8);
    expect((await earn(memberId, {})).body.error.details).toEqual({ room: 0 });
  });
});

describe('the daily limit', () => {
  it('counts the points of a calendar day in the time zone of the program, and names the next one', async () => {
    const timeZone = 'Pacific/Kiritimati';
    const memberId = await aMember({ earn: { ...rule, dailyLimit: 10 }, timeZone });
    expect((await earn(memberId, { amount: 400 })).body.data.awarded).toBe(8);
    const refused = await earn(memberId, { amount: 150 });
    expect(refusal(refused)).toEqual([400, 'EARN_LIMIT_REACHED']);
    const { end } = calendarDay(timeZone, new Date());
    expect(refused.body.error.details).toEqual({ limit: 'daily', retryAt: end.toISOString() });
    expect((await earn(memberId, { amount: 100 })).body.data.awarded).toBe(2);
    expect((await earn(memberId, { amount: 10 })).body.data.awarded).toBe(0);
    // Sales of yesterday that a till sends today count for yesterday.
    const occurredAt = ago(30 * hourMs);
    expect((await earn(memberId, { amount: 500, occurredAt })).body.data.awarded).toBe(10);
    expect(refusal(await earn(memberId, { amount: 50, occurredAt }))).toEqual([400, 'EARN_LIMIT_REACHED']);
  });

  it('counts stamps, and no earning that was reversed', async () => {
    const memberId = await aMember({ style: 'stamps', goal: 10, earn: { dailyLimit: 2 } });
    await earn(memberId, { quantity: 2 });
    expect(refusal(await earn(memberId, {}))).toEqual([400, 'EARN_LIMIT_REACHED']);
    await reverse(memberId, (await ledgerOf(memberId))[0].id);
    expect((await earn(memberId, { quantity: 2 })).body.data.current).toBe(2);
  });

  it('holds when 64 callers earn at once', async () => {
    const memberId = await aMember({ earn: { ...rule, dailyLimit: 20 } });
    const answers = await Promise.all(Array.from({ length: 64 }, () => earn(memberId, { amount: 200 })));
    const codes = answers.map(({ body }) => body.error?.code ?? 'done').sort();
    expect(codes).toEqual([...Array(59).fill('EARN_LIMIT_REACHED'), ...Array(5).fill('done')]);
    expect((await read(memberId)).balance).toBe(20);
  });

  it('holds in several processes, where no mutex helps', async () => {
    const memberId = await aMember({ earn: { ...rule, dailyLimit: 12 } });
    const deps = { ...service.deps, runExclusive: <T>(_key: string, work: () => Promise<T>) => work() };
    const actor = { type: 'user' as const, id: 'tester' };
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, () =>
        changeMember(deps, {
          merchantId: merchant.id,
          memberId,
          chooseLeaseOwner: () => null,
          temporalAvailable: true,
          decide: earnRule({ amount: 200 }, { actor, now: new Date(), reader: earnedReader(deps) }),
        }),
      ),
    );
    const codes = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'done' : outcome.reason.code)).sort();
    expect(codes).toEqual([...Array(5).fill('EARN_LIMIT_REACHED'), ...Array(3).fill('done')]);
    expect((await read(memberId)).balance).toBe(12);
  });
});

describe('the cooldown', () => {
  it('is measured between the times of sale, in whichever order they come', async () => {
    const memberId = await aMember({ earn: { ...rule, cooldownSeconds: 600 } });
    const at = (minutes: number) => new Date(Date.now() - 10 * hourMs + minutes * 60_000).toISOString();
    const [noon, near, far] = [at(0), at(-9), at(11)];
    await earn(memberId, { amount: 100, occurredAt: noon });
    const refused = await earn(memberId, { amount: 100, occurredAt: near });
    expect(refusal(refused)).toEqual([400, 'EARN_LIMIT_REACHED']);
    const retryAt = new Date(Date.parse(noon) + 600_000).toISOString();
    expect(refused.body.error.details).toEqual({ limit: 'cooldown', retryAt });
    expect((await earn(memberId, { amount: 100, occurredAt: far })).status).toBe(200);
    expect((await earn(memberId, { amount: 100 })).status).toBe(200);
    expect(refusal(await earn(memberId, { amount: 100 }))).toEqual([400, 'EARN_LIMIT_REACHED']);
  });

  it('accepts a corrected sale at once, and exactly one of 16 concurrent sales', async () => {
    const memberId = await aMember({ earn: { ...rule, cooldownSeconds: 600 } });
    await earn(memberId, { amount: 9_999 });
    await reverse(memberId, (await ledgerOf(memberId))[0].id);
    const answers = await Promise.all(Array.from({ length: 16 }, () => earn(memberId, { amount: 100 })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await read(memberId)).balance).toBe(2);
  });
});

describe('a sale that was made offline and is refused for a limit', () => {
  const yesterday = { occurredAt: ago(30 * hourMs) };
  it.each([
    ['a cooldown', { earn: { ...rule, cooldownSeconds: 600 } }, { amount: 500 }, [10]],
    ['the daily limit', { earn: { ...rule, dailyLimit: 10 } }, { amount: 500 }, [10]],
    ['a cooldown of stamps', { style: 'stamps', goal: 8, earn: { cooldownSeconds: 600 } }, { quantity: 2 }, [1, 1]],
    ['the daily limit of stamps', { style: 'stamps', goal: 8, earn: { dailyLimit: 2 } }, { quantity: 2 }, [1, 1]],
  ])('such as %s, says that the console can book it, and the console can', async (_limit, fields, sale, steps) => {
    const memberId = await aMember(fields);
    const first = await earn(memberId, { ...sale, ...yesterday });
    const refused = await earn(memberId, { ...sale, ...yesterday });
    expect(refusal(refused)).toEqual([400, 'EARN_LIMIT_REACHED']);
    expect(refused.body.error.display).toMatch(/can be booked by hand in the console\.$/);
    const credential = await signedIn(service, await aUser(service.deps, { merchantId: merchant.id }));
    for (const delta of steps) {
      const options = { method: 'PATCH', body: { delta }, credential } as const;
      expect((await merchant.call(`${one(memberId)}/points`, options)).status).toBe(200);
    }
    expect((await read(memberId)).balance).toBe(first.body.data.current * 2);
    expect((await ledgerOf(memberId))[0]).toMatchObject({ type: 'adjust', actor: { type: 'user' } });
  });
});

describe('the details of a sale from the till', () => {
  it('is stored by points and redeem, and is in their events', async () => {
    const member = await merchant.enroll({ initialPoints: 100 });
    const sale = { reference: 'receipt 1', location: 'Kiosk', occurredAt: ago(71 * hourMs) };
    await merchant.call(`${one(member.id)}/points`, { method: 'PATCH', body: { delta: 5, ...sale } });
    await merchant.call(`${one(member.id)}/redeem`, { method: 'POST', body: sale });
    const [redeemed, added] = await ledgerOf(member.id);
    expect([redeemed, added]).toMatchObject([
      { type: 'redeem', ...sale },
      { type: 'adjust', ...sale },
    ]);
    const events = await until(() => {
      const found = subscribed.envelopes(member.id);
      return found.length === 2 && found;
    });
    for (const { data } of events) expect(data).toMatchObject(sale);
  });

  it('has a time that is neither far ahead nor older than three days', async () => {
    const member = await merchant.enroll({ initialPoints: 100 });
    for (const occurredAt of [ago(-6 * 60_000), ago(73 * hourMs)]) {
      const added = await merchant.call(`${one(member.id)}/points`, {
        method: 'PATCH',
        body: { delta: 5, occurredAt },
      });
      const redeemed = await merchant.call(`${one(member.id)}/redeem`, { method: 'POST', body: { occurredAt } });
      for (const answer of [added, redeemed]) {
        expect(refusal(answer)).toEqual([400, 'VALIDATION_FAILED']);
        expect(answer.body.error.details).toMatchObject([{ path: 'occurredAt' }]);
      }
    }
    expect((await read(member.id)).balance).toBe(100);
  });
});
