// What a till does (docs/interface.md#411-till): look up a card, give points, redeem, undo its own last change.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import { addKey, outcome, type TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';
import { type SubscribedService, startSubscribedService } from '../../rig/start/subscribedService.js';

let subscribed: SubscribedService;
let service: TestService;
let merchant: TestMerchant;
const aheadMs = 0;

beforeAll(async () => {
  subscribed = await startSubscribedService(
    ['pass.scanned', 'points.changed'],
    {},
    {
      now: () => new Date(Date.now() + aheadMs),
    },
  );
  ({ service, merchant } = subscribed);
});
afterAll(() => subscribed.stop());

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

async function aTill(body: object = {}) {
  const made = await merchant.call('/merchants/me/readers', {
    body: { name: 'Terrace till', ...body },
    credential: bearer(await merchant.token()),
  });
  const { id, pairingCode } = made.body.data;
  const paired = await merchant.call('/till/pair', { body: { code: pairingCode }, credential: null });
  const credential = bearer(paired.body.data.token);
  const at = (path: string, call: object, key?: string) =>
    merchant.call(`/till/${path}`, { body: call, credential, headers: key ? { 'Idempotency-Key': key } : {} });
  return { id: id as string, at };
}

const stamps = (fields: object = {}) =>
  merchant.program({ style: 'stamps', fields: { primaryLabel: 'STAMPS' }, goal: 10, rewardName: 'Coffee', ...fields });

describe('a lookup', () => {
  it('shows a cashier what he needs and nothing else, and leaves a scan of the reader', async () => {
    const { at, id } = await aTill();
    const program = await stamps({ goal: 4 });
    const { id: memberId, memberCode } = await merchant.enroll({
      programId: program._id,
      ...{ firstName: 'Ada', lastName: 'Őry-Lovelace', email: 'ada@till.example', phone: '+4930123456' },
      initialPoints: 4,
    });
    const answer = await at('lookup', { memberCode: ` ${memberCode.toLowerCase()}\r` });
    expect(answer.body.data).toEqual({
      memberCode,
      firstName: 'Ada',
      lastInitial: 'Ő',
      balance: 4,
      tier: null,
      rewards: [{ id: 'default', name: 'Coffee', cost: 4 }],
      status: 'active',
    });
    expect(answer.headers.get('x-program-id')).toBe(program._id);
    const actor = { type: 'reader', id, name: 'Terrace till' };
    await until(() => subscribed.envelopes(memberId).some(({ event }) => event === 'pass.scanned'));
    const [scan] = subscribed.envelopes(memberId).filter(({ event }) => event === 'pass.scanned');
    expect(scan.data).toMatchObject({ scannedBy: 'Terrace till', actor });
  });

  it('by phone or email needs a reader that may, and leaves no scan', async () => {
    const [plain, allowed] = [await aTill(), await aTill({ lookupBy: ['phone'] })];
    const { memberCode } = await merchant.enroll({
      firstName: 'Bo',
      phone: '+49 170 1234567',
      email: 'bo@till.example',
    });
    const byPhone = { phone: '0049 (170) 1234567' };
    expect(outcome(await plain.at('lookup', byPhone))).toEqual([403, 'PERMISSION_DENIED']);
    expect((await allowed.at('lookup', byPhone)).body.data).toMatchObject({ memberCode });
    expect(outcome(await allowed.at('lookup', { email: 'bo@till.example' }))).toEqual([403, 'PERMISSION_DENIED']);
    expect(outcome(await plain.at('lookup', { memberCode, ...byPhone }))).toEqual([400, 'VALIDATION_FAILED']);
    expect(outcome(await plain.at('lookup', {}))).toEqual([400, 'VALIDATION_FAILED']);
  });

  it('finds only cards of the programs of the reader', async () => {
    const [mine, other] = [await stamps(), await stamps()];
    const { at } = await aTill({ programIds: [mine._id] });
    const [in_, out] = [
      await merchant.enroll({ programId: mine._id }),
      await merchant.enroll({ programId: other._id }),
    ];
    expect((await at('lookup', { memberCode: in_.memberCode })).status).toBe(200);
    expect(outcome(await at('lookup', { memberCode: out.memberCode }))).toEqual([404, 'MEMBER_NOT_FOUND']);
    expect(outcome(await at('earn', { memberCode: out.memberCode }))).toEqual([404, 'MEMBER_NOT_FOUND']);
  });

  it('asks which, when a code leads to several people', async () => {
    const { at } = await aTill();
    const [one, two] = [await merchant.program(), await merchant.program()];
    const ada = await merchant.enroll({ programId: one._id, externalId: 'B-2', firstName: 'Ada', lastName: 'Byron' });
    const bo = await merchant.enroll({ programId: two._id, externalId: 'B-2' });
    const { body } = await at('lookup', { externalId: 'B-2' });
    expect(body.error.code).toBe('CODE_AMBIGUOUS');
    expect(body.error.details.candidates).toEqual([
      { memberCode: ada.memberCode, firstName: 'Ada', lastInitial: 'B', programId: one._id },
      { memberCode: bo.memberCode, firstName: null, lastInitial: null, programId: two._id },
    ]);
    expect((await at('lookup', { externalId: 'B-2', programId: two._id })).body.data.memberCode).toBe(bo.memberCode);
  });

  it('finds the card of an EAN-13 whose leading 0 the scanner left out, and asks when there are two', async () => {
    const { at } = await aTill();
    const program = await stamps();
    const card = await merchant.enroll({ programId: program._id, externalId: '0401234567895' });
    const lookup = await at('lookup', { memberCode: '401234567895' });
    expect(lookup.body.data.memberCode).toBe(card.memberCode);
    await merchant.enroll({ programId: program._id, externalId: '401234567895' });
    expect(outcome(await at('lookup', { memberCode: '401234567895' }))).toEqual([409, 'CODE_AMBIGUOUS']);
    expect((await at('lookup', { memberCode: '0401234567895' })).body.data.memberCode).toBe(card.memberCode);
  });
});

describe('a change at the till', () => {
  it('writes an entry of the reader with place and time of the sale, once for a key', async () => {
    const { at, id } = await aTill({ location: 'Terrace' });
    const program = await stamps();
    const { id: memberId, memberCode } = await merchant.enroll({ programId: program._id });
    const occurredAt = new Date(Date.now() - 3_600_000).toISOString();
    const body = { memberCode, quantity: 2, sequence: 1, occurredAt };
    const first = await at('earn', body, 'one-sale-1');
    expect(first.body.data).toMatchObject({ awarded: 2, current: 2 });
    expect(first.body.data.transaction).toMatchObject({
      type: 'earn',
      actor: { type: 'reader', id, name: 'Terrace till' },
      location: 'Terrace',
      occurredAt,
    });
    const again = await at('earn', body, 'one-sale-1');
    expect(again.text).toBe(first.text);
    expect(outcome(await at('earn', { ...body, quantity: 3 }, 'one-sale-1'))).toEqual([400, 'IDEMPOTENCY_KEY_REUSED']);
    const { body: ledger } = await merchant.call(`/merchants/me/members/${memberId}/transactions`);
    expect(ledger.data.total).toBe(1);
    await until(() => subscribed.envelopes(memberId).some(({ event }) => event === 'points.changed'));
    const [event] = subscribed.envelopes(memberId).filter((each) => each.event === 'points.changed');
    expect(event.data.actor).toEqual({ type: 'reader', id, name: 'Terrace till' });
  });

  it('gets its first answer again when its code has become that of several people, or is not allowed any more', async () => {
    const { at, id } = await aTill();
    const [one, two] = [await stamps(), await stamps()];
    const ada = await merchant.enroll({ programId: one._id, externalId: 'PLASTIC-7' });
    const body = { memberCode: 'PLASTIC-7', quantity: 2, sequence: 1 };
    const first = await at('earn', body, 'plastic-key-1');
    const bo = await merchant.enroll({ programId: two._id, externalId: 'PLASTIC-7' });
    expect((await at('earn', body, 'plastic-key-1')).text).toBe(first.text);
    expect(outcome(await at('earn', { ...body, sequence: 2 }, 'plastic-key-1'))).toEqual([409, 'CODE_AMBIGUOUS']);
    const credential = bearer(await merchant.token());
    const only = { method: 'PATCH', body: { programIds: [two._id] }, credential };
    await merchant.call(`/merchants/me/readers/${id}`, only);
    expect((await at('earn', body, 'plastic-key-1')).text).toBe(first.text);
    const undo = await at('undo', { memberCode: ada.memberCode, sequence: 3 }, 'plastic-key-2');
    expect(outcome(undo)).toEqual([404, 'MEMBER_NOT_FOUND']);
    // Another request with this key means the other person.
    expect((await at('earn', { ...body, sequence: 4 }, 'plastic-key-1')).body.data.member.id).toBe(bo.id);
    const { ledger } = service.deps.collections;
    expect(await ledger.countDocuments({ memberId: { $in: [ada.id, bo.id] }, type: 'earn' })).toBe(2);
  });

  it('of a reader with the same number twice is applied, and counted once', async () => {
    const { at } = await aTill();
    const program = await stamps();
    const { memberCode } = await merchant.enroll({ programId: program._id });
    const answers = await Promise.all([1, 1, 1].map((sequence) => at('earn', { memberCode, sequence })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('is refused in words to say aloud, and redeems what is ready', async () => {
    const { at } = await aTill();
    const program = await stamps({ goal: 2 });
    const { memberCode } = await merchant.enroll({ programId: program._id, initialPoints: 1 });
    const early = await at('redeem', { memberCode });
    expect(early.body.error).toMatchObject({ code: 'CARD_NOT_FULL', display: expect.stringContaining('1') });
    await at('earn', { memberCode });
    expect((await at('redeem', { memberCode })).body.data).toMatchObject({ previous: 2, current: 0 });
  });

  it('within a cooldown is refused once among 64 tills at once', async () => {
    const { at } = await aTill();
    const program = await stamps({ earn: { cooldownSeconds: 60 } });
    const { memberCode } = await merchant.enroll({ programId: program._id });
    const answers = await Promise.all(Array.from({ length: 64 }, () => at('earn', { memberCode })));
    const codes = answers.map((answer) => outcome(answer)[1]);
    expect(codes.filter((code) => code === 'ok')).toHaveLength(1);
    expect(new Set(codes)).toEqual(new Set(['ok', 'EARN_LIMIT_REACHED']));
  });
});

describe('an undo', () => {
  it("reverses exactly the caller's own last change, whatever others did since, once", async () => {
    const [mine, other] = [await aTill(), await aTill()];
    const program = await stamps();
    const { memberCode } = await merchant.enroll({ programId: program._id });
    await mine.at('earn', { memberCode, quantity: 3 });
    const own = await mine.at('earn', { memberCode, quantity: 2 });
    await other.at('earn', { memberCode });
    const { body } = await mine.at('undo', { memberCode });
    expect(body.data).toMatchObject({ previous: 6, current: 4 });
    expect(body.data.transaction.reverses).toBe(own.body.data.transaction.id);
    expect(outcome(await mine.at('undo', { memberCode }))).toEqual([409, 'ALREADY_REVERSED']);
    const { memberCode: untouched } = await merchant.enroll({ programId: program._id });
    expect(outcome(await mine.at('undo', { memberCode: untouched }))).toEqual([409, 'NOTHING_TO_UNDO']);
  });

  it('gives back a redeemed reward', async () => {
    const { at } = await aTill();
    const program = await stamps({ goal: 5 });
    const { memberCode } = await merchant.enroll({ programId: program._id, initialPoints: 5 });
    await at('redeem', { memberCode });
    expect((await at('undo', { memberCode })).body.data).toMatchObject({ previous: 0, current: 5 });
  });

  it('is possible for ten minutes between the times of sale and undo', async () => {
    const { at } = await aTill();
    const program = await stamps();
    const sold = Date.now() - 3_600_000;
    const time = (minutes: number) => new Date(sold + minutes * 60_000).toISOString();
    const { memberCode } = await merchant.enroll({ programId: program._id });
    await at('earn', { memberCode, occurredAt: time(0) });
    expect(outcome(await at('undo', { memberCode }))).toEqual([409, 'NOTHING_TO_UNDO']);
    expect(outcome(await at('undo', { memberCode, occurredAt: time(11) }))).toEqual([409, 'NOTHING_TO_UNDO']);
    const { body } = await at('undo', { memberCode, occurredAt: time(9) });
    expect(body.data.transaction).toMatchObject({ type: 'reversal', occurredAt: time(9) });
  });

  it('of a person at the till leaves what the same person changed elsewhere', async () => {
    const program = await merchant.program();
    const { id, memberCode } = await merchant.enroll({ programId: program._id, initialPoints: 10 });
    const credential = bearer(await merchant.token({ sub: 'owner-at-till' }));
    await merchant.call(`/merchants/me/members/${id}/points`, { method: 'PATCH', body: { delta: 50 }, credential });
    const undo = await merchant.call('/till/undo', { body: { memberCode }, credential });
    expect(outcome(undo)).toEqual([409, 'NOTHING_TO_UNDO']);
  });

  it('that names a number of an earlier device touches nothing', async () => {
    const { at, id } = await aTill();
    const program = await stamps();
    const { memberCode } = await merchant.enroll({ programId: program._id });
    await at('earn', { memberCode, sequence: 3 });
    const owner = bearer(await merchant.token());
    const code = await merchant.call(`/merchants/me/readers/${id}/pairing`, { method: 'POST', credential: owner });
    const paired = await merchant.call('/till/pair', { body: { code: code.body.data.pairingCode }, credential: null });
    const undo = await merchant.call('/till/undo', {
      body: { memberCode, undoes: 3 },
      credential: bearer(paired.body.data.token),
    });
    expect(outcome(undo)).toEqual([409, 'NOTHING_TO_UNDO']);
  });

  it('that names its change touches no earlier one when that change was refused', async () => {
    const { at } = await aTill();
    const program = await stamps({ goal: 3 });
    const { memberCode } = await merchant.enroll({ programId: program._id });
    await at('earn', { memberCode, quantity: 3, sequence: 1 });
    expect(outcome(await at('earn', { memberCode, sequence: 2 }))).toEqual([400, 'CARD_FULL']);
    expect(outcome(await at('undo', { memberCode, sequence: 3, undoes: 2 }))).toEqual([409, 'NOTHING_TO_UNDO']);
    expect((await at('undo', { memberCode, sequence: 4, undoes: 1 })).body.data.current).toBe(0);
  });
});

describe('a person at the till', () => {
  it('with the role till does the same calls under his own name, and nothing else', async () => {
    const program = await stamps();
    const { memberCode } = await merchant.enroll({ programId: program._id, phone: '+49 30 7654321' });
    const credential = bearer(await merchant.token({ roleIds: ['till'], sub: 'user-till' }));
    const call = (path: string, body: object) => merchant.call(path, { body, credential });
    const hello = await call('/till/hello', { lastSequence: 4, waiting: 1 });
    expect(hello.body.data).toMatchObject({ reader: null, lookupBy: [] });
    expect(hello.body.data.programs.map(({ _id }: { _id: string }) => _id)).toContain(program._id);
    expect((await call('/till/lookup', { memberCode })).status).toBe(200);
    const { body } = await call('/till/earn', { memberCode, sequence: 1 });
    expect(body.data.transaction.actor).toEqual({ type: 'user', id: 'user-till' });
    expect((await call('/till/undo', { memberCode })).body.data.current).toBe(0);
    expect(outcome(await call('/till/lookup', { phone: '+49 30 7654321' }))).toEqual([403, 'PERMISSION_DENIED']);
    expect(outcome(await merchant.call('/merchants/me/members', { credential }))).toEqual([403, 'PERMISSION_DENIED']);
  });

  it('is refused with a key that may not use a till', async () => {
    const key = await addKey(service.deps, { merchantId: merchant.id, roleIds: ['viewer'] });
    const answer = await merchant.call('/till/hello', { body: {}, credential: { 'X-API-Key': key } });
    expect(outcome(answer)).toEqual([403, 'PERMISSION_DENIED']);
  });
});
