// Readers (docs/interface.md#411-till): made in the console, paired once by a code, revoked at once, and what their
// devices counted.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endpoints } from '../../../schemas/tables/endpoints.js';
import { aMerchant, type Call, outcome, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;
let aheadMs = 0;

beforeAll(async () => {
  service = await startService({ worker: false, now: () => new Date(Date.now() + aheadMs) });
  merchant = await aMerchant(service);
});
afterAll(() => service.stop());

const asRole = async (role: string, path: string, call: Call = {}, by = merchant) =>
  by.call(path, {
    ...call,
    credential: { Authorization: `Bearer ${await by.token({ roleIds: [role], sub: `a ${role}` })}` },
  });
const asOwner = (path: string, call: Call = {}, by = merchant) => asRole('owner', path, call, by);
const create = async (body: object = {}, by = merchant) =>
  (await asOwner('/merchants/me/readers', { body: { name: 'Terrace till', ...body } }, by)).body.data;
const pair = (code: string) => merchant.call('/till/pair', { body: { code }, credential: null });
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const hello = (token: string, body: object = {}) => merchant.call('/till/hello', { body, credential: bearer(token) });
const listed = async (id: string) =>
  (await asOwner('/merchants/me/readers?pageSize=100')).body.data.items.find((row: { id: string }) => row.id === id);

async function aDevice(body: object = {}) {
  const made = await create(body);
  const { token } = (await pair(made.pairingCode)).body.data;
  return { id: made.id as string, token: token as string };
}

describe('a reader', () => {
  it('is on one page of the list only, also when others were made in the same moment', async () => {
    const own = await aMerchant(service);
    const ids: string[] = [];
    for (let count = 0; count < 7; count += 1) ids.push((await create({ name: `Till ${count}` }, own)).id);
    const createdAt = new Date();
    for (const _id of ids) await service.deps.collections.readers.updateOne({ _id }, { $set: { createdAt } });
    const found: string[] = [];
    for (let page = 1; page <= 4; page += 1) {
      const { items } = (await asOwner(`/merchants/me/readers?pageSize=2&page=${page}`, {}, own)).body.data;
      found.push(...items.map(({ id }: { id: string }) => id));
    }
    expect(found).toEqual(ids.toSorted().toReversed());
  });

  it('answers its pairing code once, with a link whose code reaches no server', async () => {
    const program = await merchant.program();
    const made = await create({ location: 'Terrace', programIds: [program._id], lookupBy: ['phone', 'phone'] });
    expect(made).toMatchObject({
      name: 'Terrace till',
      location: 'Terrace',
      programIds: [program._id],
      lookupBy: ['phone'],
      pairedAt: null,
      lastSeenAt: null,
      waiting: 0,
      received: 0,
      missing: [],
      overdue: 0,
      pairingCode: expect.stringMatching(/^[A-Z]{8}$/),
    });
    expect(made.pairingLink).toBe(`${service.deps.config.PUBLIC_URL}/till#${made.pairingCode}`);
    const stored = JSON.stringify(await service.deps.collections.readers.findOne({ _id: made.id }));
    expect(stored).not.toContain(made.pairingCode);
    expect(await listed(made.id)).not.toHaveProperty('pairingCode');
  });

  it('is made only by who may use a till and edit readers, for programs of the merchant', async () => {
    const call = { body: { name: 'Till' } };
    for (const role of ['owner', 'manager'])
      expect((await asRole(role, '/merchants/me/readers', call)).status).toBe(201);
    for (const role of ['integration', 'till', 'viewer'])
      expect(outcome(await asRole(role, '/merchants/me/readers', call))).toEqual([403, 'PERMISSION_DENIED']);
    await service.deps.collections.roles.insertOne({
      _id: 'role-readers',
      merchantId: merchant.id,
      name: 'readers',
      permissions: ['readers:edit'],
    });
    expect(outcome(await asRole('role-readers', '/merchants/me/readers', call))).toEqual([403, 'PERMISSION_DENIED']);
    await service.deps.collections.roles.insertOne({
      _id: 'role-tills',
      merchantId: merchant.id,
      name: 'tills',
      permissions: ['readers:edit', 'till:use'],
    });
    const { body } = await asRole('role-tills', '/merchants/me/readers', call);
    // Who may not see people cannot let a device find them.
    const finding = { lookupBy: ['email'] };
    const tries = [
      await asRole('role-tills', '/merchants/me/readers', { body: { name: 'Till', ...finding } }),
      await asRole('role-tills', `/merchants/me/readers/${body.data.id}`, { method: 'PATCH', body: finding }),
    ];
    expect(tries.map((answer) => outcome(answer))).toEqual([
      [403, 'PERMISSION_DENIED'],
      [403, 'PERMISSION_DENIED'],
    ]);
    const other = await (await aMerchant(service)).program();
    const foreign = { body: { name: 'Till', programIds: [other._id] } };
    expect(outcome(await asOwner('/merchants/me/readers', foreign))).toEqual([404, 'PROGRAM_NOT_FOUND']);
  });

  it('is changed, and its optional settings are removed with null', async () => {
    const { id } = await create({ location: 'Terrace', lookupBy: ['email'] });
    const path = `/merchants/me/readers/${id}`;
    const { body } = await asOwner(path, { method: 'PATCH', body: { name: 'Bar', location: null, lookupBy: [] } });
    expect(body.data).toMatchObject({ id, name: 'Bar', location: null, lookupBy: [] });
    expect(outcome(await asOwner(path, { method: 'PATCH', body: {} }))).toEqual([400, 'VALIDATION_FAILED']);
    const stranger = await aMerchant(service);
    expect(outcome(await asOwner(path, { method: 'PATCH', body: { name: 'Mine' } }, stranger))).toEqual([
      404,
      'READER_NOT_FOUND',
    ]);
  });

  it('counts against a limit of the merchant', async () => {
    const small = await aMerchant(service);
    await service.deps.collections.merchants.insertOne({
      _id: small.id,
      name: 'Small',
      createdAt: new Date(),
      limits: { readers: 1 },
    });
    await create({}, small);
    expect(outcome(await asOwner('/merchants/me/readers', { body: { name: 'Second' } }, small))).toEqual([
      400,
      'READER_LIMIT_REACHED',
    ]);
  });
});

describe('a pairing code', () => {
  it('works once, in the spelling of people, for ten minutes', async () => {
    const made = await create();
    const typed = ` ${made.pairingCode.slice(0, 4)}-${made.pairingCode.slice(4).toLowerCase()} `;
    const { status, body } = await pair(typed);
    expect(status).toBe(200);
    expect(body.data).toEqual({
      token: expect.stringMatching(/^lpr_[A-Za-z0-9_-]{43}$/),
      reader: { id: made.id, name: 'Terrace till', location: null },
    });
    const stored = JSON.stringify(await service.deps.collections.readers.findOne({ _id: made.id }));
    expect(stored).not.toContain(body.data.token.slice(4));
    expect(outcome(await pair(made.pairingCode))).toEqual([400, 'PAIRING_CODE_INVALID']);

    const late = await create();
    aheadMs += 10 * 60_000;
    expect(outcome(await pair(late.pairingCode))).toEqual([400, 'PAIRING_CODE_INVALID']);
  });

  it('pairs one device, however many send it at once', async () => {
    const { pairingCode } = await create();
    const answers = await Promise.all(Array.from({ length: 6 }, () => pair(pairingCode)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('leaves an audit entry of the reader', async () => {
    const { id } = await aDevice();
    const { body } = await asOwner(`/merchants/me/audit?targetId=${id}`);
    expect(body.data.items.map(({ action, actor }: never) => [action, (actor as { type: string }).type])).toEqual([
      ['reader.pair', 'reader'],
      ['reader.create', 'user'],
    ]);
  });

  it('of a second device ends the token of the first one', async () => {
    const first = await aDevice();
    const { body } = await asOwner(`/merchants/me/readers/${first.id}/pairing`, { method: 'POST' });
    expect((await hello(first.token)).status).toBe(200);
    const second = (await pair(body.data.pairingCode)).body.data.token;
    expect(outcome(await hello(first.token))).toEqual([401, 'INVALID_TOKEN']);
    expect((await hello(second)).status).toBe(200);
  });
});

describe('the token of a reader', () => {
  it('is refused everywhere but at the till', async () => {
    const { token } = await aDevice();
    const allowed: string[] = [];
    for (const [name, { method, path, access }] of Object.entries(endpoints)) {
      if (access === 'public') continue;
      const url = path.replace(/:[A-Za-z]+/g, '0b6c1f0e-4d6f-4f0e-8f9d-3b8a8c2d7e11');
      const { status } = await merchant.call(url, {
        method: method.toUpperCase(),
        credential: bearer(token),
        ...(method !== 'get' && { body: {} }),
      });
      if (status !== 403) allowed.push(name);
    }
    expect(allowed.sort()).toEqual(['tillEarn', 'tillHello', 'tillLookup', 'tillRedeem', 'tillUndo']);
  });

  it('ends at once when the reader is revoked, whose missing taps stay listed', async () => {
    const { id, token } = await aDevice();
    await hello(token, { lastSequence: 3, waiting: 3 });
    const { body } = await asOwner(`/merchants/me/readers/${id}`, { method: 'DELETE' });
    expect(body.data).toEqual({ id, revoked: true });
    expect(outcome(await hello(token))).toEqual([401, 'INVALID_TOKEN']);
    expect(await listed(id)).toMatchObject({ revokedAt: expect.any(String), missing: [{ from: 1, to: 3 }] });
    expect(outcome(await asOwner(`/merchants/me/readers/${id}`, { method: 'DELETE' }))).toEqual([
      404,
      'READER_NOT_FOUND',
    ]);
  });
});

describe('the taps of a reader', () => {
  it('are received, waiting or missing, also of a device that was paired before', async () => {
    const program = await merchant.program({ style: 'stamps', fields: { primaryLabel: 'STAMPS' }, goal: 10 });
    const { memberCode } = await merchant.enroll({ programId: program._id });
    const { id, token } = await aDevice();
    const earn = (sequence: number, at = token, code = memberCode) =>
      merchant.call('/till/earn', {
        body: { memberCode: code, sequence },
        credential: bearer(at),
        headers: { 'Idempotency-Key': `tap-${at.slice(-6).replace(/\W/g, 'x')}-${sequence}` },
      });
    expect((await earn(1)).status).toBe(200);
    expect((await earn(1)).headers.get('idempotent-replayed')).toBe('true');
    expect((await earn(4)).status).toBe(200);
    // A refusal has arrived, too.
    expect(outcome(await earn(3, token, 'ZZZZZZZZZZ'))).toEqual([404, 'MEMBER_NOT_FOUND']);
    await hello(token, { lastSequence: 6, waiting: 2 });
    expect(await listed(id)).toMatchObject({
      waiting: 2,
      received: 3,
      missing: [
        { from: 2, to: 2 },
        { from: 5, to: 6 },
      ],
      overdue: 0,
    });
    aheadMs += 61_000;
    expect(await listed(id)).toMatchObject({ overdue: 3 });
    expect((await earn(5)).status).toBe(200);
    expect(await listed(id)).toMatchObject({ received: 4, overdue: 2 });

    const { body } = await asOwner(`/merchants/me/readers/${id}/pairing`, { method: 'POST' });
    const second = (await pair(body.data.pairingCode)).body.data.token;
    expect((await earn(1, second)).status).toBe(200);
    expect(await listed(id)).toMatchObject({
      waiting: 0,
      received: 5,
      missing: [
        { from: 2, to: 2 },
        { from: 6, to: 6 },
      ],
    });
  });

  it('that are no valid request have arrived, too', async () => {
    const { id, token } = await aDevice();
    const body = { memberCode: '7H2K9M4QXT', sequence: 1, quantity: 11 };
    const answer = await merchant.call('/till/earn', { body, credential: bearer(token) });
    expect(outcome(answer)).toEqual([400, 'VALIDATION_FAILED']);
    await hello(token, { lastSequence: 1 });
    expect(await listed(id)).toMatchObject({ received: 1, missing: [] });
  });

  it('that were under way when another device was paired are not missing', async () => {
    const { id, token } = await aDevice();
    await hello(token, { lastSequence: 2, waiting: 2 });
    const { body } = await asOwner(`/merchants/me/readers/${id}/pairing`, { method: 'POST' });
    const second = (await pair(body.data.pairingCode)).body.data.token;
    expect(await listed(id)).toMatchObject({ missing: [{ from: 1, to: 2 }] });
    const late = { merchantId: merchant.id, readerId: id, pairing: 1, sequence: 2, at: new Date() };
    await service.deps.collections.taps.insertOne({ _id: `${id}:1:2`, ...late });
    const expected = { received: 1, missing: [{ from: 1, to: 1 }] };
    expect(await listed(id)).toMatchObject(expected);
    await hello(second);
    expect(await listed(id)).toMatchObject(expected);
  });

  it('of two hundred changes at once are all counted', async () => {
    const program = await merchant.program();
    const members = await Promise.all(
      Array.from({ length: 10 }, () => merchant.enroll({ programId: program._id, initialPoints: 100 })),
    );
    const { id, token } = await aDevice();
    const sequences = Array.from({ length: 200 }, (_, index) => index + 1);
    await Promise.all(
      sequences.map(async (sequence) => {
        const { status } = await merchant.call('/till/redeem', {
          body: { memberCode: members[sequence % 10].memberCode, sequence },
          credential: bearer(token),
        });
        expect([200, 400]).toContain(status);
        if (sequence % 50 === 0) await hello(token, { lastSequence: sequence });
      }),
    );
    await hello(token, { lastSequence: 200, waiting: 0 });
    expect(await listed(id)).toMatchObject({ received: 200, missing: [] });
    expect(await service.deps.collections.taps.countDocuments({ readerId: id })).toBe(0);
  });
});
