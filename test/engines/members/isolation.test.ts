// Generated from the endpoint table: every route with every role and with ids of another merchant. A new route is
// tested automatically; a path with a new kind of resource fails here until it has an example.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../schemas/access/endpoint.schema.js';
import { builtInRoles, type Permission, permissions } from '../../../schemas/access/permissions.schema.js';
import { newId } from '../../../schemas/shared/ids.js';
import { endpoints } from '../../../schemas/tables/endpoints.js';
import { until } from '../../rig/checks/until.js';
import { sendImport } from '../../rig/start/imports.js';
import { type Answer, addKey, aMerchant, type Call, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

const table: [string, Endpoint][] = Object.entries(endpoints);
const closed = table.filter(([, { access }]) => access !== 'public');
/** Endpoints that need only the session itself. */
const ownSession = closed.filter(([, { access }]) => access === 'session');
const permitted = closed.filter(([, { access }]) => access !== 'session');
const withId = permitted.filter(([, { path }]) => path.includes(':'));

let service: TestService;
let owner: TestMerchant;
let stranger: TestMerchant;
/** The owner's resources, by the path segment before their id. */
let held: Record<string, string>;

beforeAll(async () => {
  service = await startService();
  [owner, stranger] = [await aMerchant(service), await aMerchant(service)];
  const hook = await owner.call('/merchants/me/webhooks', { body: { url: 'http://127.0.0.1:9/hook', events: ['*'] } });
  const member = await owner.enroll({ firstName: 'Owned', email: 'owned@example.com', initialPoints: 500 });
  const key = await owner.call('/auth/api-keys', {
    body: { name: 'owned key', roleIds: ['viewer'] },
    credential: await session(owner, ['owner']),
  });
  const role = await owner.call('/merchants/me/roles', {
    body: { name: 'owned role', permissions: ['users:view'] },
    credential: await session(owner, ['owner']),
  });
  const user = await owner.call('/merchants/me/users', {
    body: { email: 'owned-user@example.com', roleIds: ['viewer'] },
    credential: await session(owner, ['owner']),
  });
  const reader = await owner.call('/merchants/me/readers', {
    body: { name: 'owned reader' },
    credential: await session(owner, ['owner']),
  });
  const delivery = await until(() => service.deps.collections.deliveries.findOne({ merchantId: owner.id }));
  const batch = await sendImport(owner, { programId: member.programId, file: 'email\nimported@example.com\n' });
  held = {
    programs: member.programId,
    members: member.id,
    'api-keys': key.body.data.id,
    roles: role.body.data.id,
    users: user.body.data.id,
    readers: reader.body.data.id,
    webhooks: hook.body.data.id,
    'delivery-logs': delivery._id,
    batches: batch.body.data.batchId,
    campaigns: await aCampaign(member.programId),
    versions: '1',
    requests: String(batch.headers.get('x-request-id')),
    transactions: (await owner.call(`/merchants/me/members/${member.id}/transactions`)).body.data.items[0].id,
  };
});

afterAll(async () => {
  await service.stop();
});

async function aCampaign(programId: string): Promise<string> {
  const sent = await owner.call('/merchants/me/campaigns', { body: { programId, message: 'hello' } });
  return sent.body.data.id ?? sent.body.data.campaignId;
}

function csv(programId: string): FormData {
  const form = new FormData();
  form.set('programId', programId);
  form.set('file', new Blob(['email\nimported@example.com\n'], { type: 'text/csv' }), 'members.csv');
  return form;
}

const session = async (merchant: TestMerchant, roleIds: string[]) => ({
  Authorization: `Bearer ${await merchant.token({ roleIds })}`,
});

/** The path with each parameter replaced by `idOf` of the segment before it. */
function pathOf({ path }: Endpoint, idOf: (segment: string) => string): string {
  const segments = path.split('/');
  return segments.map((part, index) => (part.startsWith(':') ? idOf(segments[index - 1] ?? '') : part)).join('/');
}

function ownedId(segment: string): string {
  const id = held[segment];
  if (!id) throw new Error(`This test has no example of what stands behind /${segment}/.`);
  return id;
}

function callOf(endpoint: Endpoint, programId: string): Pick<Call, 'method' | 'body'> {
  const method = endpoint.method.toUpperCase();
  if (endpoint.upload) return { method, body: csv(programId) };
  if (!endpoint.body) return { method };
  const example = endpoint.example ?? {};
  return { method, body: 'programId' in (example as object) ? { ...(example as object), programId } : example };
}

/** A credential of the kind that the endpoint accepts, with exactly these permissions. */
async function holding(endpoint: Endpoint, allowed: readonly Permission[]): Promise<Record<string, string>> {
  const _id = `role-${newId()}`;
  await service.deps.collections.roles.insertOne({ _id, merchantId: owner.id, name: _id, permissions: [...allowed] });
  if (endpoint.session) return session(owner, [_id]);
  return { 'X-API-Key': await addKey(service.deps, { merchantId: owner.id, roleIds: [_id] }) };
}

const refusedAs = (answer: Answer): string => answer.body?.error?.code ?? 'none';
const admitted = (answer: Answer): boolean => answer.status !== 401 && answer.status !== 403;

/** Calls the endpoint with ids that do not exist, so that an admitted caller changes nothing. */
const probe = ([name, endpoint]: [string, Endpoint], credential: Record<string, string> | null): Promise<Answer> => {
  const body = grants[name];
  return owner.call(
    pathOf(endpoint, () => newId()),
    { ...callOf(endpoint, 'no-such-program'), ...(body && { body }), credential },
  );
};

const writesWithoutId = new Set(['createApiKey', 'createRole', 'createUser', 'createSubscription']);
/**
 * A new key or role requests the permissions that every caller of these tests holds, because nobody can grant others.
 */
const grants: Record<string, object> = {
  createApiKey: { name: 'x', roleIds: ['no-such-role'] },
  createRole: { name: 'x', permissions: ['users:edit'] },
  createUser: { email: 'x@example.com', roleIds: ['no-such-role'] },
};

describe.each(ownSession)('%s', (name, endpoint) => {
  it('needs a credential, and is allowed with any session', async () => {
    const answer = await probe([name, endpoint], null);
    expect([answer.status, refusedAs(answer)]).toEqual([401, 'AUTHENTICATION_REQUIRED']);
    expect((await probe([name, endpoint], await holding(endpoint, []))).status).toBe(200);
  });
});

describe.each(permitted)('%s', (name, endpoint) => {
  const opens = (permission: Permission) => permission === endpoint.access || permission === endpoint.otherAccess;
  const needed = permissions.filter(opens);
  const also = endpoint.alsoAccess ? [endpoint.alsoAccess] : [];

  it('needs a credential', async () => {
    const answer = await probe([name, endpoint], null);
    expect([answer.status, refusedAs(answer)]).toEqual([401, 'AUTHENTICATION_REQUIRED']);
  });

  it('is forbidden with all permissions but its own', async () => {
    const others = permissions.filter((permission) => !opens(permission));
    const answer = await probe([name, endpoint], await holding(endpoint, others));
    expect([answer.status, refusedAs(answer)]).toEqual([403, 'PERMISSION_DENIED']);
  });

  it('is allowed with its own permission only', async () => {
    expect(needed).toHaveLength(endpoint.otherAccess ? 2 : 1);
    for (const permission of needed)
      expect(admitted(await probe([name, endpoint], await holding(endpoint, [permission, ...also])))).toBe(true);
  });

  it.each(Object.entries(builtInRoles))(
    'admits the role %s exactly when the role has the permission',
    async (role, allowed) => {
      if (role === 'owner' && writesWithoutId.has(name)) return expect(allowed).toContain(endpoint.access);
      const credential = endpoint.session
        ? await session(owner, [role])
        : { 'X-API-Key': await addKey(service.deps, { merchantId: owner.id, roleIds: [role] }) };
      const answer = await probe([name, endpoint], credential);
      expect(admitted(answer)).toBe(allowed.some(opens) && also.every((permission) => allowed.includes(permission)));
      if (!admitted(answer)) expect([answer.status, refusedAs(answer)]).toEqual([403, 'PERMISSION_DENIED']);
    },
  );
});

describe.each(permitted.filter(([, { alsoAccess }]) => alsoAccess))('%s', (name, endpoint) => {
  it('is forbidden with all permissions but the second that it needs', async () => {
    const others = permissions.filter((permission) => permission !== endpoint.alsoAccess);
    const answer = await probe([name, endpoint], await holding(endpoint, others));
    expect([answer.status, refusedAs(answer)]).toEqual([403, 'PERMISSION_DENIED']);
    expect(answer.body.error.details).toEqual({ missing: [endpoint.alsoAccess] });
  });
});

describe.each(closed.filter(([, endpoint]) => endpoint.session))('%s', (name, endpoint) => {
  it('is forbidden for every API key, whatever its roles', async () => {
    const credential = { 'X-API-Key': await addKey(service.deps, { merchantId: owner.id, roleIds: ['owner'] }) };
    const answer = await probe([name, endpoint], credential);
    expect([answer.status, refusedAs(answer)]).toEqual([403, 'CONSOLE_SESSION_REQUIRED']);
  });
});

describe.each(withId)("%s with another merchant's id", (_name, endpoint) => {
  it('is answered as for an id that does not exist', async () => {
    const before = await snapshot();
    const credential = endpoint.session
      ? await session(stranger, ['owner'])
      : { 'X-API-Key': await addKey(service.deps, { merchantId: stranger.id, roleIds: ['owner'] }) };
    const call = { ...callOf(endpoint, 'no-such-program'), credential };
    const foreign = await stranger.call(pathOf(endpoint, ownedId), call);
    const unknown = await stranger.call(
      pathOf(endpoint, (segment) => (segment === 'programs' ? 'no-such-program' : newId())),
      call,
    );
    expect(foreign.status).toBe(404);
    expect(foreign.body).toEqual(unknown.body);
    expect(await snapshot()).toEqual(before);
  });
});

/** All data of the owner that another merchant could change. */
async function snapshot() {
  const { members, programs, programDrafts, subscriptions, apiKeys, roles, users, readers, deliveries, batches } =
    service.deps.collections;
  const where = { merchantId: owner.id };
  const { members: memberId, webhooks, batches: batchId } = held;
  return Promise.all([
    members.findOne({ _id: memberId ?? '', ...where }, { projection: { version: 1, balance: 1, status: 1, tags: 1 } }),
    programs.countDocuments(where),
    programDrafts.countDocuments(where),
    subscriptions.findOne(
      { _id: webhooks ?? '', ...where },
      { projection: { enabled: 1, url: 1, secrets: 1, updatedAt: 1 } },
    ),
    apiKeys.findOne({ _id: held['api-keys'] ?? '', ...where }),
    roles.countDocuments({ _id: held.roles ?? '', ...where }),
    users.findOne({ _id: held.users ?? '', ...where }),
    readers.findOne({ _id: held.readers ?? '', ...where }),
    deliveries.countDocuments({ ...where, replayOf: { $exists: true } }),
    batches.findOne({ _id: batchId ?? '', ...where }, { projection: { cancelRequestedAt: 1 } }),
  ]);
}

describe('the ids of these tests', () => {
  it.each(withId.filter(([, { method }]) => method === 'get'))(
    'exist for their owner in %s',
    async (_name, endpoint) => {
      const credential = endpoint.session ? await session(owner, ['owner']) : { 'X-API-Key': owner.apiKey };
      const answer = await owner.call(pathOf(endpoint, ownedId), { credential });
      expect(answer.status).toBe(200);
    },
  );
});

describe.each(closed.filter(([, { method, path }]) => method === 'get' && !path.includes(':')))(
  '%s',
  (_name, endpoint) => {
    it('shows nothing of another merchant', async () => {
      // The log of requests shows the stranger which ids it asked for.
      const newcomer = await aMerchant(service);
      const credential = await session(newcomer, ['owner']);
      const { status, text } = await newcomer.call(endpoint.path, { credential });
      expect(status).toBe(200);
      const { versions, ...ids } = held;
      for (const id of [owner.id, 'owned@example.com', 'owned-user@example.com', ...Object.values(ids)])
        expect(text).not.toContain(id);
    });
  },
);

describe("another merchant's id in a body or a query", () => {
  it('enrolls and imports nobody', async () => {
    const before = await service.deps.collections.members.countDocuments({ programId: held.programs ?? '' });
    const programId = held.programs ?? '';
    const enrolled = await stranger.call('/merchants/me/members', { body: { programId } });
    const imported = await stranger.call('/merchants/me/members/import', { method: 'POST', body: csv(programId) });
    for (const answer of [enrolled, imported])
      expect([answer.status, refusedAs(answer)]).toEqual([404, 'PROGRAM_NOT_FOUND']);
    expect(await service.deps.collections.members.countDocuments({ programId })).toBe(before);
  });

  it('finds nothing', async () => {
    for (const path of [
      `/merchants/me/members?programId=${held.programs}`,
      '/merchants/me/members?q=owned@example.com',
      `/merchants/me/webhooks/delivery-logs?subscriptionId=${held.webhooks}`,
    ])
      expect((await stranger.call(path)).body.data).toMatchObject({ items: [], total: 0 });
  });
});
