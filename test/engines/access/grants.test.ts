// Nobody gets more permissions than were granted: a grant needs the granted permissions, personal data is masked for
// callers that may not read members, and cancelling a batch needs the permission of its kind.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtInRoles, type Permission, permissions } from '../../../schemas/access/permissions.schema.js';
import { newId } from '../../../schemas/shared/ids.js';
import { until } from '../../rig/checks/until.js';
import { addKey, aMerchant, outcome, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService({ env: { MERCHANT_MAX_ROLES: '3' } });
  merchant = await aMerchant(service);
});
afterAll(() => service.stop());

async function aRole(allowed: readonly Permission[], merchantId = merchant.id): Promise<string> {
  const _id = `role-${newId()}`;
  await service.deps.collections.roles.insertOne({
    _id,
    merchantId,
    name: _id,
    permissions: [...allowed],
  });
  return _id;
}
const session = async (allowed: readonly Permission[], by = merchant) => ({
  Authorization: `Bearer ${await by.token({ roleIds: [await aRole(allowed, by.id)], sub: newId() })}`,
});
const key = async (allowed: readonly Permission[]) => ({
  'X-API-Key': await addKey(service.deps, { merchantId: merchant.id, roleIds: [await aRole(allowed)] }),
});
const without = (...left: Permission[]) => permissions.filter((permission) => !left.includes(permission));

describe('an API key', () => {
  const create = async (roleIds: string[], held: readonly Permission[]) =>
    merchant.call('/auth/api-keys', { body: { name: 'Till', roleIds }, credential: await session(held) });

  it('is refused when its roles have a permission that its creator lacks', async () => {
    const answer = await create(['viewer', 'integration'], without('merchants.campaigns:delete'));
    expect(outcome(answer)).toEqual([403, 'PERMISSION_DENIED']);
    expect(answer.body.error.details).toEqual({ missing: ['merchants.campaigns:delete'] });
    expect(outcome(await create(['owner'], without('users:edit')))).toEqual([403, 'PERMISSION_DENIED']);
    expect(await service.deps.collections.apiKeys.countDocuments({ merchantId: merchant.id, name: 'Till' })).toBe(0);
  });

  it('may have all permissions of its creator', async () => {
    expect(outcome(await create(['integration', 'viewer'], without('api-keys:delete')))).toEqual([201, 'ok']);
    expect(outcome(await create(['owner'], permissions))).toEqual([201, 'ok']);
  });
});

describe('a role', () => {
  const path = '/merchants/me/roles';
  const create = async (asked: string[], held: readonly Permission[] = permissions, by = merchant) =>
    by.call(path, { body: { name: 'Staff', permissions: asked }, credential: await session(held, by) });

  it('has at most the permissions of its creator', async () => {
    const answer = await create(['merchants.members:view', 'api-keys:create'], without('api-keys:create'));
    expect(outcome(answer)).toEqual([403, 'PERMISSION_DENIED']);
    expect(answer.body.error.message).toContain('api-keys:create');
    expect(outcome(await create(['merchants.members:view', 'no-such:permission']))).toEqual([400, 'VALIDATION_FAILED']);
  });

  it('can be listed, given to a key and deleted; its permissions then end', async () => {
    const own = await aMerchant(service);
    const owner = { Authorization: `Bearer ${await own.token()}` };
    const made = await own.call(path, {
      body: { name: 'Staff', permissions: ['merchants.members:view', 'merchants.members:view'] },
      credential: owner,
    });
    expect([made.status, made.body.data]).toEqual([
      201,
      { id: expect.any(String), name: 'Staff', permissions: ['merchants.members:view'], builtIn: false },
    ]);
    const { id } = made.body.data;
    const listed = await own.call(path, { credential: owner });
    const ids = listed.body.data.items.map((role: { id: string }) => role.id);
    expect(ids).toEqual([...Object.keys(builtInRoles).sort(), id]);
    const last = await own.call(`${path}?page=${ids.length}&pageSize=1`, { credential: owner });
    expect(last.body.data).toEqual({ items: [made.body.data], page: ids.length, pageSize: 1, total: ids.length });
    const created = await own.call('/auth/api-keys', { body: { name: 'k', roleIds: [id] }, credential: owner });
    const credential = { 'X-API-Key': created.body.data.key };
    expect(outcome(await own.call('/merchants/me/members', { credential }))).toEqual([200, 'ok']);
    const stranger = await merchant.call(`${path}/${id}`, { method: 'DELETE', credential: await session(permissions) });
    expect(outcome(stranger)).toEqual([404, 'UNKNOWN_ROLE']);
    const editor = await session(['users:edit'], own);
    const refused = await own.call(`${path}/${id}`, { method: 'DELETE', credential: editor });
    expect([...outcome(refused), refused.body.error.details]).toEqual([
      ...[403, 'PERMISSION_DENIED'],
      { missing: ['merchants.members:view'] },
    ]);
    const deleted = await own.call(`${path}/${id}`, { method: 'DELETE', credential: owner });
    expect(deleted.body.data).toEqual({ id, deleted: true });
    await until(async () => (await own.call('/merchants/me/members', { credential })).status === 403);
    const builtIn = await own.call(`${path}/viewer`, { method: 'DELETE', credential: owner });
    expect(outcome(builtIn)).toEqual([404, 'UNKNOWN_ROLE']);
  });

  it('is limited in number', async () => {
    const own = await aMerchant(service);
    const credential = { Authorization: `Bearer ${await own.token()}` };
    const body = { name: 'Staff', permissions: ['merchants.members:view'] };
    const made = await Promise.all(Array.from({ length: 5 }, () => own.call(path, { body, credential })));
    expect(made.map(outcome).sort()).toEqual([
      ...Array(3).fill([201, 'ok']),
      ...Array(2).fill([400, 'ROLE_LIMIT_REACHED']),
    ]);
  });
});

describe('without the permission to read members', () => {
  const person = { firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com', phone: '+44 20 7946 0018' };
  const masked = { firstName: 'A***', lastName: 'L***', email: 'a***', phone: '+***' };
  const held = without('merchants.members:view');

  it('personal data is masked in the feed, and shown to those who may read members', async () => {
    const own = await aMerchant(service);
    const member = await own.enroll(person);
    const read = async (allowed: readonly Permission[]) => {
      const roleId = newId();
      const { roles } = service.deps.collections;
      await roles.insertOne({ _id: roleId, merchantId: own.id, name: 'r', permissions: [...allowed] });
      const apiKey = await addKey(service.deps, { merchantId: own.id, roleIds: [roleId] });
      const { body } = await own.call('/merchants/me/events?types=member.created', {
        credential: { 'X-API-Key': apiKey },
      });
      return body.data.items.find(({ data }: { data: { memberId: string } }) => data.memberId === member.id);
    };
    const shown = await until(() => read(permissions));
    expect(shown.data).toMatchObject({ firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com' });
    const hidden = await read(held);
    expect(hidden.data).toMatchObject({ firstName: 'A***', lastName: 'L***', email: 'a***' });
    expect(hidden.eventId).toBe(shown.eventId);
  });

  it('personal data is masked, and links to the card are left out, in every answer that has a member', async () => {
    const program = await merchant.program();
    const credential = await key(held);
    const { id, memberCode } = await merchant.enroll({ programId: program._id, ...person });
    const one = `/merchants/me/members/${id}`;
    const answers = [
      await merchant.call('/merchants/me/members', {
        body: { programId: program._id, email: person.email },
        credential,
      }),
      await merchant.call(`${one}/tags`, { body: { tags: ['vip'] }, credential }),
      await merchant.call(one, { method: 'PATCH', body: { firstName: 'Alice' }, credential }),
      await merchant.call('/merchants/me/scans', { body: { code: memberCode }, credential }),
      await merchant.call(`${one}/card-link`, { body: {}, credential }),
    ];
    const hidden = { id, ...masked, apple: { passUrl: '' } };
    for (const { body } of answers) expect(body.data).toMatchObject(hidden);
    expect(answers[0]?.body.data).toMatchObject({ deduped: true });
    const status = await merchant.call(`${one}/status`, { method: 'PATCH', body: { status: 'voided' }, credential });
    expect(status.body.data.member).toMatchObject(hidden);
    const created = await merchant.call('/merchants/me/members', {
      body: { programId: program._id, email: 'new@example.com' },
      credential,
    });
    expect(created.body.data.apple.passUrl).toContain('/passes/');
    expect(
      answers
        .concat(status)
        .map(({ text }) => text)
        .join(),
    ).not.toMatch(/Lovelace|7946 ?0018|ada@|Alice/);
  });
});

describe('a caller that may not read members', () => {
  it('cannot choose where a webhook goes, and may change the rest of it', async () => {
    const made = await merchant.call('/merchants/me/webhooks', {
      body: { url: 'https://example.com/own', events: ['*'] },
    });
    const credential = await session(without('merchants.members:view'));
    const patch = (body: object) =>
      merchant.call(`/merchants/me/webhooks/${made.body.data.id}`, { method: 'PATCH', body, credential });
    const moved = await patch({ name: 'Renamed', url: 'https://example.com/other' });
    expect(outcome(moved)).toEqual([403, 'PERMISSION_DENIED']);
    expect(moved.body.error.details).toEqual({ missing: ['merchants.members:view'] });
    const renamed = await patch({ name: 'Renamed', timeoutMs: 5_000 });
    expect(renamed.body.data).toMatchObject({ name: 'Renamed', url: 'https://example.com/own' });
  });
});

describe('cancelling a batch', () => {
  const memberEditor: Permission[] = ['merchants.members:edit'];
  const campaignEditor: Permission[] = ['merchants.campaigns:edit'];

  it.each([
    ['members.import', memberEditor, campaignEditor],
    ['passes.rebuild', memberEditor, campaignEditor],
    ['cards.mail', memberEditor, campaignEditor],
    ['campaign', campaignEditor, memberEditor],
    ['webhooks.replay', campaignEditor, memberEditor],
  ] as const)('of the kind %s needs its own permission', async (kind, needed, other) => {
    const _id = newId();
    await service.deps.collections.batches.insertOne({
      _id,
      merchantId: merchant.id,
      kind,
      phase: 'completed',
      counts: { total: 0, created: 0, deduped: 0, failed: 0 },
      passIssuance: { apple: 0, google: 0 },
      done: 0,
      startedBy: { type: 'user', id: 'operator' },
      startedAt: new Date(),
    });
    const cancel = (credential: Record<string, string>) =>
      merchant.call(`/merchants/me/batches/${_id}/cancel`, { method: 'POST', credential });
    const refused = await cancel(await session(other));
    expect(outcome(refused)).toEqual([403, 'PERMISSION_DENIED']);
    expect(refused.body.error.details).toEqual({ missing: needed });
    expect(outcome(await cancel(await session(needed)))).toEqual([200, 'ok']);
    const byKey = kind === 'passes.rebuild' ? [403, 'CONSOLE_SESSION_REQUIRED'] : [200, 'ok'];
    expect(outcome(await cancel(await key(needed)))).toEqual(byKey);
    expect(outcome(await cancel(await session(['merchants.members:view'])))).toEqual([403, 'PERMISSION_DENIED']);
  });
});
