// One key is one change (docs/interface.md#83-idempotency-keys): a retry gets the same answer, concurrent requests are
// applied once, and the change is never applied twice, whichever process died.
import { Binary } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyedChangeId, newId, newToken } from '../../../schemas/shared/ids.js';
import { until } from '../../rig/checks/until.js';
import { type Answer, addKey, aMerchant, type Call, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService();
  merchant = await aMerchant(service);
});

afterAll(async () => {
  await service.stop();
});

const points = (memberId: string, key: string, body: unknown = { delta: 5 }, call: Call = {}): Promise<Answer> =>
  merchant.call(`/merchants/me/members/${memberId}/points`, {
    method: 'PATCH',
    body,
    headers: { 'Idempotency-Key': key },
    ...call,
  });
const redeem = (memberId: string, key: string, body?: unknown): Promise<Answer> =>
  merchant.call(`/merchants/me/members/${memberId}/redeem`, {
    method: 'POST',
    ...(body !== undefined && { body }),
    headers: { 'Idempotency-Key': key },
  });
const newKey = (): string => `key-${newToken()}`;
const row = (memberId: string) => service.deps.collections.members.findOne({ _id: memberId });
const published = (memberId: string) =>
  until(async () => !(await service.deps.collections.events.findOne({ memberId, state: 'new' })));

describe('an enrollment with a key', () => {
  const person = { firstName: 'Ida', email: 'ida@example.com', initialPoints: 3 };
  const enroll = (key: string, body: object, call: Call = {}) =>
    merchant.call('/merchants/me/members', { body, headers: { 'Idempotency-Key': key }, ...call });
  const members = (programId: string) => service.deps.collections.members.countDocuments({ programId });

  it('makes one member, however often it is sent, one after the other or at once', async () => {
    const { _id: programId } = await merchant.program();
    const [key, other] = [newKey(), newKey()];
    const first = await enroll(key, { programId, ...person });
    expect([first.status, first.headers.get('Idempotent-Replayed')]).toEqual([201, null]);
    const again = await enroll(key, { ...person, programId });
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(again.headers.get('Idempotent-Replayed')).toBe('true');
    const same = await Promise.all(Array.from({ length: 6 }, () => enroll(other, { programId, firstName: 'Bo' })));
    expect(new Set(same.map(({ body }) => body.data.id)).size).toBe(1);
    expect(same.filter(({ headers }) => headers.get('Idempotent-Replayed') === null)).toHaveLength(1);
    const unnamed = await merchant.call('/merchants/me/members', { body: { programId, firstName: 'Cy' } });
    const named = unnamed.headers.get('Idempotency-Key') ?? '';
    expect((await enroll(named, { programId, firstName: 'Cy' })).text).toBe(unnamed.text);
    expect(await members(programId)).toBe(3);
  });

  it('keeps the answer about a known address, and refuses another body and a key that is none', async () => {
    const { _id: programId } = await merchant.program();
    await enroll(newKey(), { programId, ...person });
    const key = newKey();
    const known = await enroll(key, { programId, ...person });
    expect([known.status, known.body.data.deduped]).toEqual([200, true]);
    expect((await enroll(key, { programId, ...person })).text).toBe(known.text);
    const reused = await enroll(key, { programId, ...person, firstName: 'Eva' });
    expect([reused.status, reused.body.error.code]).toEqual([400, 'IDEMPOTENCY_KEY_REUSED']);
    const malformed = await enroll('short', { programId, firstName: 'Dan' });
    expect([malformed.status, malformed.body.error.code]).toEqual([400, 'IDEMPOTENCY_KEY_MALFORMED']);
    const tooMany = { programId, firstName: 'Dan', initialPoints: -1 };
    expect((await enroll(newKey(), tooMany)).status).toBe(400);
    expect(await members(programId)).toBe(1);
  });

  it('is 404 after the erasure of its member, and keeps nothing about the person', async () => {
    const { _id: programId } = await merchant.program();
    const key = newKey();
    const { body } = await enroll(key, { programId, ...person });
    const memberId = body.data.id;
    const session = { Authorization: `Bearer ${await merchant.token()}` };
    const at = `/merchants/me/members/${memberId}`;
    expect((await merchant.call(at, { method: 'DELETE', credential: session })).status).toBe(200);
    expect((await enroll(key, { programId, ...person })).status).toBe(404);
    const { idempotencyKeys } = service.deps.collections;
    const kept = await until(async () => {
      const found = await idempotencyKeys.findOne({ memberId });
      return found && !found.response && found;
    });
    expect(kept.fingerprint).toBe('');
    expect(await members(programId)).toBe(0);
  });

  it('shows a caller who may not read members no more than the first answer did', async () => {
    const { _id: programId } = await merchant.program();
    const apiKey = await addKey(service.deps, { merchantId: merchant.id, roleIds: ['creator'] });
    await service.deps.collections.roles.insertOne({
      _id: 'creator',
      merchantId: merchant.id,
      name: 'creator',
      permissions: ['merchants.members:create'],
    });
    const key = newKey();
    await enroll(newKey(), { programId, ...person });
    const credential = { 'X-API-Key': apiKey };
    const first = await enroll(key, { programId, ...person }, { credential });
    const again = await enroll(key, { programId, ...person }, { credential });
    expect(again.text).toBe(first.text);
    expect(again.text).not.toContain(person.email);
  });
});

describe('an id in capitals', () => {
  it('is the same member, program and change as in lower case', async () => {
    const program = await merchant.program({ _id: newId() });
    const capitals = program._id.toUpperCase();
    const enrolled = await merchant.call('/merchants/me/members', { body: { programId: capitals } });
    const { id } = enrolled.body.data;
    expect(enrolled.body.data.programId).toBe(program._id);
    const key = newKey();
    const first = await points(id.toUpperCase(), key);
    expect(first.body.data.member.id).toBe(id);
    const again = await points(id, key);
    expect([again.text, again.headers.get('Idempotent-Replayed')]).toEqual([first.text, 'true']);
    for (const path of ['', '/events', '/transactions', '/balance', '/export'])
      expect((await merchant.call(`/merchants/me/members/${id.toUpperCase()}${path}`)).status).toBe(200);
    const listed = await merchant.call(`/merchants/me/members?programId=${capitals}`);
    expect(listed.body.data.total).toBe(1);
  });
});

describe('a retry', () => {
  it('of a completed request gets the same bytes, and a header marks it as a replay', async () => {
    const member = await merchant.enroll({ initialPoints: 200 });
    for (const send of [
      (key: string) => points(member.id, key, { delta: 5, changeMessage: 'five' }),
      (key: string) => redeem(member.id, key),
    ]) {
      const key = newKey();
      const first = await send(key);
      expect(first.status).toBe(200);
      expect(first.headers.get('Idempotent-Replayed')).toBeNull();
      expect(first.headers.get('Idempotency-Key')).toBe(key);
      await merchant.call(`/merchants/me/members/${member.id}/points`, { method: 'PATCH', body: { delta: 1 } });
      const version = (await row(member.id))?.version;
      const again = await send(key);
      expect(again.status).toBe(200);
      expect(again.text).toBe(first.text);
      expect(again.headers.get('Idempotent-Replayed')).toBe('true');
      expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
      expect((await row(member.id))?.version).toBe(version);
    }
  });

  it('may have its fields in another order', async () => {
    const member = await merchant.enroll();
    const key = newKey();
    const first = await points(member.id, key, '{"delta":5,"changeMessage":"x"}', {
      headers: { 'Idempotency-Key': key, 'Content-Type': 'application/json' },
    });
    const again = await points(member.id, key, '{ "changeMessage": "x", "delta": 5.0 }', {
      headers: { 'Idempotency-Key': key, 'Content-Type': 'application/json' },
    });
    expect(again.text).toBe(first.text);
  });

  it('gets its first answer, also when the member was voided since', async () => {
    const member = await merchant.enroll();
    const key = newKey();
    const first = await points(member.id, key);
    await merchant.call(`/merchants/me/members/${member.id}/status`, { method: 'PATCH', body: { status: 'voided' } });
    expect((await points(member.id, key)).text).toBe(first.text);
  });

  it('of a redeem without a body and with an empty body is the same change', async () => {
    const member = await merchant.enroll({ initialPoints: 500 });
    const key = newKey();
    const first = await redeem(member.id, key);
    expect((await redeem(member.id, key, {})).text).toBe(first.text);
  });
});

describe('a key', () => {
  it('with another request is refused as reused, and changes nothing', async () => {
    const member = await merchant.enroll();
    const key = newKey();
    await points(member.id, key, { delta: 5 });
    for (const other of [{ delta: 6 }, { value: 5 }, { delta: 5, changeMessage: 'x' }]) {
      const { status, body } = await points(member.id, key, other);
      expect([status, body.error.code]).toEqual([400, 'IDEMPOTENCY_KEY_REUSED']);
    }
    expect((await row(member.id))?.balance).toBe(5);
  });

  it('counts for one operation on one member and is free for all others', async () => {
    const member = await merchant.enroll({ initialPoints: 500 });
    const other = await merchant.enroll();
    const stranger = await aMerchant(service);
    const theirs = await stranger.enroll();
    const key = newKey();
    expect((await points(member.id, key)).body.data.current).toBe(505);
    expect((await redeem(member.id, key)).body.data.current).toBe(405);
    expect((await points(other.id, key)).body.data.current).toBe(5);
    const elsewhere = await stranger.call(`/merchants/me/members/${theirs.id}/points`, {
      method: 'PATCH',
      body: { delta: 9 },
      headers: { 'Idempotency-Key': key },
    });
    expect(elsewhere.body.data.current).toBe(9);
  });

  it('is generated when none was sent, is named in the answer and can be used for a retry', async () => {
    const member = await merchant.enroll();
    const first = await merchant.call(`/merchants/me/members/${member.id}/points`, {
      method: 'PATCH',
      body: { delta: 5 },
    });
    const key = first.headers.get('Idempotency-Key') ?? '';
    expect(key).toMatch(/^[A-Za-z0-9_-]{8,128}$/);
    expect((await points(member.id, key)).text).toBe(first.text);
    expect((await row(member.id))?.balance).toBe(5);
  });

  it.each([
    ['7 characters', 'k'.repeat(7)],
    ['129 characters', 'k'.repeat(129)],
    ['nothing', ''],
    ['a space', 'key with space'],
    ['a colon', 'points:key-1'],
    ['a letter with an accent', 'clé-clé-clé'],
    ['an operator', '{"$ne":1}'],
  ])('of %s is malformed', async (_what, key) => {
    const member = await merchant.enroll({ initialPoints: 100 });
    for (const answer of [await points(member.id, key), await redeem(member.id, key)]) {
      expect([answer.status, answer.body.error.code]).toEqual([400, 'IDEMPOTENCY_KEY_MALFORMED']);
    }
    expect((await row(member.id))?.version).toBe(1);
  });

  it.each([8, 128])('of %d characters is accepted', async (length) => {
    const member = await merchant.enroll();
    const key = newToken(96).slice(0, length);
    const first = await points(member.id, key);
    expect(first.status).toBe(200);
    expect((await points(member.id, key)).text).toBe(first.text);
  });

  it('of a refused request can be used again', async () => {
    const member = await merchant.enroll({ initialPoints: 99 });
    const key = newKey();
    expect((await redeem(member.id, key)).body.error.code).toBe('CARD_NOT_FULL');
    await points(member.id, newKey(), { delta: 1 });
    const done = await redeem(member.id, key);
    expect(done.body.data).toMatchObject({ previous: 100, current: 0 });
    expect(done.headers.get('Idempotent-Replayed')).toBeNull();
    const other = newKey();
    expect((await points(member.id, other, { delta: 'x' })).status).toBe(400);
    expect((await points(member.id, other, { delta: 3 })).body.data.current).toBe(3);
  });
});

describe('concurrent requests with one key', () => {
  it('are applied once: 50 requests, each answered with the same bytes or as in use', async () => {
    const member = await merchant.enroll({ initialPoints: 100 });
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 50 }, () => points(member.id, key)));
    const done = answers.filter((answer) => answer.status === 200);
    const waiting = answers.filter((answer) => answer.status === 409);
    expect(done.length).toBeGreaterThan(0);
    expect(done.length + waiting.length).toBe(50);
    expect(new Set(done.map((answer) => answer.text)).size).toBe(1);
    expect(done.filter((answer) => answer.headers.get('Idempotent-Replayed') === null)).toHaveLength(1);
    for (const answer of waiting) expect(answer.body.error.code).toBe('IDEMPOTENCY_KEY_IN_USE');
    expect(await row(member.id)).toMatchObject({ balance: 105, version: 2 });
    expect(await service.deps.collections.ledger.countDocuments({ memberId: member.id, type: 'adjust' })).toBe(1);
    expect(await service.deps.collections.events.countDocuments({ memberId: member.id, type: 'points.changed' })).toBe(
      1,
    );
  });

  it('with different bodies are applied once, and the others are refused', async () => {
    const member = await merchant.enroll();
    const key = newKey();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => points(member.id, key, { delta: index + 1 })),
    );
    const done = answers.filter((answer) => answer.status === 200);
    expect(done).toHaveLength(1);
    expect((await row(member.id))?.balance).toBe(done[0]?.body.data.current);
    for (const answer of answers.filter((each) => each.status !== 200))
      expect(answer.body.error.code).toBe('IDEMPOTENCY_KEY_REUSED');
  });
});

describe('a claim without an answer', () => {
  /** The row of the change as the API leaves it while it waits for the wallets, or when it dies during that wait. */
  async function unanswered(memberId: string, key: string, ageMs: number): Promise<void> {
    await service.deps.collections.idempotencyKeys.updateOne(
      { _id: keyedChangeId('points', memberId, key) },
      { $unset: { response: '' }, $set: { createdAt: new Date(Date.now() - ageMs) } },
    );
  }

  it('is answered as in use while it is recent', async () => {
    const member = await merchant.enroll();
    const key = newKey();
    await points(member.id, key);
    await unanswered(member.id, key, 0);
    const { status, body } = await points(member.id, key);
    expect([status, body.error.code]).toEqual([409, 'IDEMPOTENCY_KEY_IN_USE']);
    const other = await points(member.id, key, { delta: 6 });
    expect([other.status, other.body.error.code]).toEqual([400, 'IDEMPOTENCY_KEY_REUSED']);
  });

  it('is taken over after ten seconds at most, with the same answer, applied once and then stored', async () => {
    const member = await merchant.enroll({ initialPoints: 20 });
    const key = newKey();
    const first = await points(member.id, key);
    await unanswered(member.id, key, 10_000);
    const [taken, beside] = await Promise.all([points(member.id, key), points(member.id, key)]);
    expect(taken.status).toBe(200);
    expect(taken.body).toEqual(first.body);
    expect(beside.text).toBe(taken.text);
    const again = await points(member.id, key);
    expect(again.text).toBe(taken.text);
    expect(again.headers.get('Idempotent-Replayed')).toBe('true');
    expect(await row(member.id)).toMatchObject({ balance: 25, version: 2 });
    await published(member.id);
    expect(await service.deps.collections.events.countDocuments({ memberId: member.id, type: 'points.changed' })).toBe(
      1,
    );
  });
});

describe('a key whose row has expired', () => {
  async function expire(operation: 'points' | 'redeem', memberId: string, key: string): Promise<string> {
    const _id = keyedChangeId(operation, memberId, key);
    const createdAt = new Date(Date.now() - 4 * 86_400_000);
    await service.deps.collections.idempotencyKeys.deleteOne({ _id });
    await service.deps.collections.ledger.updateOne({ _id }, { $set: { createdAt } });
    return createdAt.toISOString();
  }

  it('is found by its ledger entry: it gets its first answer and is never applied again', async () => {
    const member = await merchant.enroll({ initialPoints: 20 });
    const key = newKey();
    const first = await points(member.id, key);
    await published(member.id);
    first.body.data.transaction.createdAt = await expire('points', member.id, key);
    const { id } = first.body.data.transaction;
    const undo = () =>
      merchant.call(`/merchants/me/members/${member.id}/transactions/${id}/reverse`, { method: 'POST' });
    for (const before of [async () => {}, async () => expect((await undo()).status).toBe(200)]) {
      await before();
      await service.deps.collections.idempotencyKeys.deleteOne({ _id: keyedChangeId('points', member.id, key) });
      const answer = await points(member.id, key);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual(first.body);
    }
    const reused = await points(member.id, key, { delta: 6 });
    expect([reused.status, reused.body.error.code]).toEqual([400, 'IDEMPOTENCY_KEY_REUSED']);
    expect(await row(member.id)).toMatchObject({ balance: 20, version: 3 });
  });

  it('is found, even if the change could not be made again', async () => {
    const member = await merchant.enroll({ initialPoints: 100 });
    const key = newKey();
    const first = await redeem(member.id, key);
    await published(member.id);
    first.body.data.transaction.createdAt = await expire('redeem', member.id, key);
    const again = await redeem(member.id, key);
    expect(again.status).toBe(200);
    expect(again.body).toEqual(first.body);
    expect(await row(member.id)).toMatchObject({ balance: 0, redeemedCount: 1 });
  });
});

it('the stored answer has the bytes that were sent', async () => {
  const member = await merchant.enroll();
  const key = newKey();
  const first = await points(member.id, key);
  const keyedChange = await service.deps.collections.idempotencyKeys.findOne({
    _id: keyedChangeId('points', member.id, key),
  });
  expect(keyedChange?.response?.body).toBeInstanceOf(Binary);
  expect(Buffer.from(keyedChange?.response?.body.buffer ?? []).toString('utf8')).toBe(first.text);
});
