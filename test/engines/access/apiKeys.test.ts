// API keys (docs/interface.md, sections 2.9, 4.1 and 5): created by a console session, shown once, stored as a hash,
// invalid at once after they are revoked.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKey, createNoteKeyUse } from '../../../activities/access/apiKeys.writes.js';
import { createDeps } from '../../../platform/createDeps.js';
import { sha256 } from '../../../schemas/shared/ids.js';
import { until } from '../../rig/checks/until.js';
import { type Answer, aMerchant, type Call, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;
/** How far the service's clock is ahead. */
let aheadMs = 0;

beforeAll(async () => {
  service = await startService({ worker: false, now: () => new Date(Date.now() + aheadMs) });
  merchant = await aMerchant(service);
});

afterAll(async () => {
  await service.stop();
});

/** Calls the API as a user of the console. */
async function asUser(
  path: string,
  { sub, by = merchant, ...call }: Call & { sub?: string; by?: TestMerchant } = {},
): Promise<Answer> {
  const token = await by.token(sub ? { sub } : {});
  return by.call(path, { ...call, credential: { Authorization: `Bearer ${token}` } });
}
const create = (body: object, who: { sub?: string; by?: TestMerchant } = {}) =>
  asUser('/auth/api-keys', { body: { name: 'Till', roleIds: ['integration'], ...body }, ...who });
const withKey = (key: string): Promise<Answer> =>
  merchant.call('/merchants/me/programs', { credential: { 'X-API-Key': key } });

describe('a new key', () => {
  it('is shown once, works at once, and is stored only as its hash', async () => {
    const { status, body } = await create({ name: 'Till backend' });
    expect(status).toBe(201);
    expect(body.data).toEqual({
      id: expect.any(String),
      name: 'Till backend',
      key: expect.stringMatching(/^lps_[A-Za-z0-9_-]{43}$/),
      keyPrefix: body.data.key.slice(0, 12),
      roleIds: ['integration'],
      createdBy: 'user-1',
      createdAt: expect.any(String),
      lastUsedAt: null,
      expiresAt: null,
      revokedAt: null,
      allowedNetworks: null,
    });
    expect((await withKey(body.data.key)).status).toBe(200);
    const row = await service.deps.collections.apiKeys.findOne({ _id: body.data.id });
    expect(row?.hash).toBe(sha256(body.data.key));
    expect(JSON.stringify(row)).not.toContain(body.data.key.slice(12));
  });

  it('has the permissions of all its roles', async () => {
    await service.deps.collections.roles.insertMany([
      { _id: 'role-programs', merchantId: merchant.id, name: 'programs', permissions: ['merchants.programs:view'] },
      { _id: 'role-members', merchantId: merchant.id, name: 'members', permissions: ['merchants.members:view'] },
    ]);
    const { body } = await create({ roleIds: ['role-programs', 'role-members', 'role-members'] }, { sub: 'unions' });
    expect(body.data.roleIds).toEqual(['role-programs', 'role-members']);
    const credential = { 'X-API-Key': body.data.key };
    expect((await merchant.call('/merchants/me/programs', { credential })).status).toBe(200);
    expect((await merchant.call('/merchants/me/members', { credential })).status).toBe(200);
    const refused = await merchant.call('/merchants/me/webhooks', { credential });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'PERMISSION_DENIED']);
  });

  it('stops working at its expiry', async () => {
    const soon = new Date(Date.now() + 600_000).toISOString();
    const { body } = await create({ expiresAt: soon }, { sub: 'expiry' });
    expect(body.data.expiresAt).toBe(soon);
    expect((await withKey(body.data.key)).status).toBe(200);
    aheadMs = 600_000;
    const lapsed = await withKey(body.data.key);
    expect([lapsed.status, lapsed.body.error.code]).toEqual([401, 'INVALID_API_KEY']);
    const listed = await asUser('/auth/api-keys');
    aheadMs = 0;
    expect(JSON.stringify(listed.body)).not.toContain(body.data.id);
  });

  it('accepts an expiry in any time zone', async () => {
    const { status, body } = await create({ expiresAt: '2100-01-01T02:00:00+02:00' }, { sub: 'expiry' });
    expect([status, body.data.expiresAt]).toEqual([201, '2100-01-01T00:00:00.000Z']);
  });

  it.each([
    ['no name', { name: undefined }],
    ['an empty name', { name: '' }],
    ['no roles', { roleIds: undefined }],
    ['an empty list of roles', { roleIds: [] }],
    ['an expiry that has passed', { expiresAt: '2020-01-01T00:00:00Z' }],
    ['an expiry that is no moment', { expiresAt: 'tomorrow' }],
    ['an expiry in the year 10000 of UTC', { expiresAt: '9999-12-31T20:00:00-08:00' }],
    ['an expiry without a time zone', { expiresAt: '2100-01-01T00:00:00' }],
    ['an unknown field', { merchantId: 'another' }],
    ['an operator', { roleIds: [{ $ne: null }] }],
  ])('with %s is refused', async (_what, fields) => {
    const { status, body } = await create(fields, { sub: 'refused' });
    expect([status, body.error.code]).toEqual([400, 'VALIDATION_FAILED']);
  });

  it('with a role that the merchant cannot see is refused; a role of another merchant counts as unknown', async () => {
    await service.deps.collections.roles.insertOne({
      _id: 'role-theirs',
      merchantId: 'another',
      name: 'x',
      permissions: [],
    });
    for (const roleIds of [['no-such-role'], ['role-theirs'], ['integration', 'role-theirs']]) {
      const { status, body } = await create({ roleIds }, { sub: 'refused' });
      expect([status, body.error.code]).toEqual([400, 'ROLE_NOT_FOUND']);
    }
    expect(await service.deps.collections.apiKeys.countDocuments({ createdBy: 'refused' })).toBe(0);
  });
});

describe('the limit of ten keys', () => {
  it('holds for one user when two processes get requests at the same time', async () => {
    const { deps } = service;
    const other = createDeps({ config: deps.config, log: deps.log, timeouts: 'tool' });
    const wish = {
      merchantId: merchant.id,
      createdBy: 'everywhere',
      name: 'Till',
      roleIds: ['viewer'],
      checkGrant: () => {},
    };
    const results = await Promise.allSettled(
      Array.from({ length: 14 }, (_, index) => createApiKey(index % 2 ? other : deps, wish)),
    );
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused.map(({ reason }) => reason.code)).toEqual(Array(4).fill('API_KEY_LIMIT_REACHED'));
    expect(await deps.collections.apiKeys.countDocuments({ createdBy: 'everywhere' })).toBe(10);
    await other.close();
  });

  it('counts the active keys of one user, also for concurrent requests', async () => {
    const sub = 'hoarder';
    const answers = await Promise.all(
      Array.from({ length: 14 }, (_, index) => create({ name: `Key ${index}` }, { sub })),
    );
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(10);
    for (const { status, body } of answers.filter((answer) => answer.status !== 201))
      expect([status, body.error.code]).toEqual([400, 'API_KEY_LIMIT_REACHED']);
    expect((await create({}, { sub: 'somebody else' })).status).toBe(201);
    const [first] = answers.filter((answer) => answer.status === 201);
    await asUser(`/auth/api-keys/${first?.body.data.id}`, { method: 'DELETE' });
    expect((await create({}, { sub })).status).toBe(201);
  });
});

describe('the list', () => {
  it("shows the merchant's keys with their creators, newest first, without secrets", async () => {
    const own = await aMerchant(service);
    const first = await create({ name: 'First' }, { sub: 'anna', by: own });
    const second = await create({ name: 'Second' }, { sub: 'ben', by: own });
    const { status, body, text } = await asUser('/auth/api-keys', { by: own });
    expect(status).toBe(200);
    const [{ key: _1, ...one }, { key: _2, ...other }] = [second.body.data, first.body.data];
    expect(body.data.slice(0, 2)).toEqual([one, other]);
    expect(body.data[0].createdBy).toBe('ben');
    for (const key of [first.body.data.key, second.body.data.key]) {
      expect(text).not.toContain(key);
      expect(text).not.toContain(sha256(key));
    }
    expect(text).not.toContain('hash');
  });
});

describe('the last use of a key', () => {
  it('is shown to the minute, and written once a minute at most', async () => {
    const { deps } = service;
    const row = async (id: string) => deps.collections.apiKeys.findOne({ _id: id });
    const { body } = await create({}, { sub: 'uses' });
    const { id, key } = body.data;
    const before = Math.floor(Date.now() / 60_000) * 60_000;
    await Promise.all(Array.from({ length: 5 }, () => withKey(key)));
    const used = await until(async () => (await row(id))?.lastUsedAt);
    expect(used.getTime() % 60_000).toBe(0);
    expect(used.getTime()).toBeGreaterThanOrEqual(before);
    const listed = (await asUser('/auth/api-keys')).body.data.find((each: { id: string }) => each.id === id);
    expect(listed.lastUsedAt).toBe(used.toISOString());

    let at = new Date(used.getTime() + 10 * 60_000);
    let writes = 0;
    const noteKeyUse = createNoteKeyUse({
      ...deps,
      now: () => at,
      collections: {
        ...deps.collections,
        apiKeys: new Proxy(deps.collections.apiKeys, {
          get(target, name) {
            if (name === 'updateOne') writes += 1;
            const value = Reflect.get(target, name);
            return typeof value === 'function' ? value.bind(target) : value;
          },
        }),
      },
    });
    const known = await row(id);
    if (!known) throw new Error('The key is gone.');
    for (let uses = 0; uses < 50; uses += 1) noteKeyUse(known);
    await until(async () => (await row(id))?.lastUsedAt?.getTime() === at.getTime());
    at = new Date(at.getTime() + 59_000);
    noteKeyUse(known);
    expect(writes).toBe(1);
    at = new Date(at.getTime() + 1_000);
    noteKeyUse(known);
    expect(writes).toBe(2);
  });
});

describe('a key with allowed networks', () => {
  it('works only from these, and refused attempts do not update its last use', async () => {
    const { body } = await create({ allowedNetworks: ['127.0.0.0/8', '2001:db8::/32'] }, { sub: 'networks' });
    expect(body.data.allowedNetworks).toEqual(['127.0.0.0/8', '2001:db8::/32']);
    expect((await withKey(body.data.key)).status).toBe(200);
    const elsewhere = await create({ allowedNetworks: ['203.0.113.7', '198.51.100.0/24'] }, { sub: 'networks' });
    const refused = await withKey(elsewhere.body.data.key);
    expect([refused.status, refused.body.error.code]).toEqual([403, 'NETWORK_NOT_ALLOWED']);
    const row = await service.deps.collections.apiKeys.findOne({ _id: elsewhere.body.data.id });
    expect(row?.lastUsedAt).toBeUndefined();
  });

  it.each([['203.0.113.0/33'], ['example.com'], ['10.0.0.0/8, 11.0.0.0/8'], ['']])('%j is refused', async (entry) => {
    const { status, body } = await create({ allowedNetworks: [entry] }, { sub: 'networks' });
    expect([status, body.error.code]).toEqual([400, 'VALIDATION_FAILED']);
  });
});

describe('a revoked key', () => {
  it('fails at the next request and cannot be restored', async () => {
    const { body } = await create({}, { sub: 'revoker' });
    const { id, key } = body.data;
    expect((await withKey(key)).status).toBe(200);
    const revoked = await asUser(`/auth/api-keys/${id}`, { method: 'DELETE' });
    expect(revoked.status).toBe(200);
    expect(revoked.body.data).toEqual({ id, revoked: true });
    const refused = await withKey(key);
    expect([refused.status, refused.body.error.code]).toEqual([401, 'INVALID_API_KEY']);
    const { data } = (await asUser('/auth/api-keys')).body;
    expect(data.find((each: { id: string }) => each.id === id)).toMatchObject({ revokedAt: expect.any(String) });
    expect(data.filter((each: { revokedAt: string | null }) => each.revokedAt === null).length).toBeGreaterThan(0);
    const again = await asUser(`/auth/api-keys/${id}`, { method: 'DELETE' });
    expect([again.status, again.body.error.code]).toEqual([404, 'API_KEY_NOT_FOUND']);
  });

  it('of another merchant is answered 404 and still works', async () => {
    const other = await aMerchant(service);
    const { body } = await create({}, { by: other });
    const { status, body: refused } = await asUser(`/auth/api-keys/${body.data.id}`, { method: 'DELETE' });
    expect([status, refused.error.code]).toEqual([404, 'API_KEY_NOT_FOUND']);
    expect((await withKey(body.data.key)).status).toBe(200);
  });
});

describe('an API key', () => {
  it('cannot manage keys, whatever its roles', async () => {
    const { body } = await create({ roleIds: ['owner'] }, { sub: 'owner' });
    const credential = { 'X-API-Key': body.data.key };
    for (const call of [{ method: 'GET' }, { method: 'POST', body: { name: 'x', roleIds: ['integration'] } }]) {
      const refused = await merchant.call('/auth/api-keys', { ...call, credential });
      expect([refused.status, refused.body.error.code]).toEqual([403, 'CONSOLE_SESSION_REQUIRED']);
    }
    const refused = await merchant.call(`/auth/api-keys/${body.data.id}`, { method: 'DELETE', credential });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'CONSOLE_SESSION_REQUIRED']);
  });

  it('can be replaced without a gap: the old key works until it is revoked', async () => {
    const [old, next] = [await create({}, { sub: 'rotation' }), await create({}, { sub: 'rotation' })];
    expect([(await withKey(old.body.data.key)).status, (await withKey(next.body.data.key)).status]).toEqual([200, 200]);
    await asUser(`/auth/api-keys/${old.body.data.id}`, { method: 'DELETE' });
    expect([(await withKey(old.body.data.key)).status, (await withKey(next.body.data.key)).status]).toEqual([401, 200]);
  });
});

it('a user without the permission cannot list, create or revoke keys', async () => {
  const token = await merchant.token({ roleIds: ['integration'] });
  const credential = { Authorization: `Bearer ${token}` };
  for (const [path, call] of [
    ['/auth/api-keys', {}],
    ['/auth/api-keys', { body: { name: 'x', roleIds: ['integration'] } }],
    ['/auth/api-keys/any', { method: 'DELETE' }],
  ] as const) {
    const { status, body } = await merchant.call(path, { ...call, credential });
    expect([status, body.error.code]).toEqual([403, 'PERMISSION_DENIED']);
  }
});
