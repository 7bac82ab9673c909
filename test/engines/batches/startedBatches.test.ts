// Who starts a batch may watch it: the actor that started it reads its progress and the rows that it sent, and nobody
// else does without the permission to view.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Permission } from '../../../schemas/access/permissions.schema.js';
import { newId } from '../../../schemas/shared/ids.js';
import { until } from '../../rig/checks/until.js';
import { sendImport } from '../../rig/start/imports.js';
import { addKey, aMerchant, outcome, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

type Credential = Record<string, string>;

let service: TestService;
let merchant: TestMerchant;
let programId: string;

beforeAll(async () => {
  service = await startService();
  merchant = await aMerchant(service);
  programId = (await merchant.program())._id;
  const known = await merchant.enroll({ programId, email: 'known@example.com' });
  await merchant.call(`/merchants/me/members/${known.id}/tags`, { body: { tags: ['vip'] } });
});
afterAll(() => service.stop());

async function aRole(...allowed: Permission[]): Promise<string> {
  const _id = `role-${newId()}`;
  await service.deps.collections.roles.insertOne({ _id, merchantId: merchant.id, name: _id, permissions: allowed });
  return _id;
}
const key = async (...allowed: Permission[]): Promise<Credential> => ({
  'X-API-Key': await addKey(service.deps, { merchantId: merchant.id, roleIds: [await aRole(...allowed)] }),
});
const session = async (...allowed: Permission[]): Promise<Credential> => ({
  Authorization: `Bearer ${await merchant.token({ roleIds: [await aRole(...allowed)], sub: newId() })}`,
});
const read = (path: string, credential: Credential) => merchant.call(`/merchants/me/${path}`, { credential });

const file = 'email,firstName\nnew@example.com,Nora\nknown@example.com,Kai\nno address,Otto\n';

async function startImport(credential: Credential): Promise<string> {
  const path = `/merchants/me/imports?programId=${programId}`;
  const headers = { 'Content-Type': 'text/csv', 'Idempotency-Key': newId() };
  const started = await merchant.call(path, { body: file, headers, credential });
  expect(started.status).toBe(202);
  return started.body.data.id;
}

async function startCampaign(credential: Credential): Promise<string> {
  const body = { programId, tags: ['vip'], message: 'hello' };
  const headers = { 'Idempotency-Key': newId() };
  const started = await merchant.call('/merchants/me/campaigns', { body, headers, credential });
  expect(started.status).toBe(202);
  return started.body.data.id;
}

const ended = (path: string, credential: Credential) =>
  until(async () => {
    const { body } = await read(path, credential);
    return body.data?.finishedAt && body.data;
  });

const paths = (id: string) => [
  `batches/${id}`,
  `batches/${id}/errors.csv`,
  `batches/${id}/known.csv`,
  `campaigns/${id}`,
];

describe.each([
  ['a key', key],
  ['a session', session],
])('%s that may only create members', (_name, credentialWith) => {
  it('watches the import that it started, and reads which of its rows failed or were known', async () => {
    const own = await credentialWith('merchants.members:create');
    const id = await startImport(own);
    expect(await ended(`batches/${id}`, own)).toMatchObject({
      id,
      phase: 'completed',
      counts: { total: 3, failed: 1 },
    });
    const failed = await read(`batches/${id}/errors.csv`, own);
    expect([failed.status, failed.text.includes('no address,Otto')]).toEqual([200, true]);
    const known = await read(`batches/${id}/known.csv`, own);
    expect([known.status, known.text.includes('known@example.com,Kai')]).toEqual([200, true]);
  });

  it('watches what the small import made', async () => {
    const own = await credentialWith('merchants.members:create');
    const form = { programId, file: 'email\nsmall@example.com\n' };
    const headers = { 'Idempotency-Key': newId() };
    const { data } = (await sendImport(merchant, form, { headers, credential: own })).body;
    expect(outcome(await read(`batches/${data.batchId}`, own))).toEqual([200, 'ok']);
  });
});

it('a key that may only create campaigns watches the one that it started', async () => {
  const own = await key('merchants.campaigns:create');
  const id = await startCampaign(own);
  expect(await ended(`campaigns/${id}`, own)).toMatchObject({ id, counts: { matched: 1 } });
  expect(outcome(await read(`batches/${id}`, own))).toEqual([200, 'ok']);
});

describe('without the permission to view', () => {
  it("another's batch is refused as one that does not exist", async () => {
    const ids = [await startImport(await key('merchants.members:create')), newId()];
    const others = [
      await key('merchants.members:create', 'merchants.campaigns:create', 'merchants.members:edit'),
      await session('merchants.members:create', 'merchants.campaigns:create'),
      await key(),
    ];
    for (const other of others)
      for (const path of ids.flatMap(paths))
        expect(outcome(await read(path, other))).toEqual([403, 'PERMISSION_DENIED']);
  });

  it("a session with the id of the key that started it is another's", async () => {
    const own = await key('merchants.members:create');
    const id = await startImport(own);
    const { startedBy } = (await ended(`batches/${id}`, own)) as { startedBy: { id: string } };
    const roleIds = [await aRole('merchants.members:create')];
    const session = { Authorization: `Bearer ${await merchant.token({ roleIds, sub: startedBy.id })}` };
    expect(outcome(await read(`batches/${id}`, session))).toEqual([403, 'PERMISSION_DENIED']);
  });

  it('the one who started it neither lists nor cancels batches', async () => {
    const own = await key('merchants.members:create');
    const id = await startImport(own);
    expect(outcome(await read('batches', own))).toEqual([403, 'PERMISSION_DENIED']);
    const cancelled = await merchant.call(`/merchants/me/batches/${id}/cancel`, { method: 'POST', credential: own });
    expect(outcome(cancelled)).toEqual([403, 'PERMISSION_DENIED']);
  });
});

it("a merchant's batch is no batch of another merchant's actor with the same id", async () => {
  const stranger = await aMerchant(service);
  const sub = newId();
  const token = async (by: TestMerchant, roleIds: string[]) => ({
    Authorization: `Bearer ${await by.token({ roleIds, sub })}`,
  });
  const id = await startImport(await token(merchant, [await aRole('merchants.members:create')]));
  const answer = await stranger.call(`/merchants/me/batches/${id}`, { credential: await token(stranger, ['till']) });
  expect(outcome(answer)).toEqual([403, 'PERMISSION_DENIED']);
});
