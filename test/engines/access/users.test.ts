// The users of a merchant: invited, given other roles and removed, by users who hold the permissions that they grant;
// the last owner stays (docs/interface.md#55-users-and-signing-in).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKey } from '../../../activities/access/apiKeys.writes.js';
import { changeRoles, createUser, removeUser } from '../../../activities/access/users.writes.js';
import { createDeps } from '../../../platform/createDeps.js';
import type { Deps } from '../../../platform/deps.js';
import type { UserRow } from '../../../schemas/access/access.rows.js';
import { type Permission, permissions } from '../../../schemas/access/permissions.schema.js';
import { newId } from '../../../schemas/shared/ids.js';
import { users as usersCommand } from '../../../stack/commands/users.js';
import { runOn } from '../../rig/start/commandLine.js';
import { type Answer, aMerchant, type Call, outcome, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';
import { aUser, press, signedIn } from '../../rig/start/signIn.js';

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService({ worker: false, env: { MERCHANT_MAX_USERS: '6' } });
  merchant = await aMerchant(service);
});
afterAll(() => service.stop());

const path = '/merchants/me/users';
const checkGrant = () => {};

/** Calls the API as a user of the console with exactly these permissions. */
async function by(own: TestMerchant, held: readonly Permission[], at: string, call: Call = {}): Promise<Answer> {
  const _id = newId();
  await service.deps.collections.roles.insertOne({ _id, merchantId: own.id, name: _id, permissions: [...held] });
  const credential = { Authorization: `Bearer ${await own.token({ roleIds: [_id] })}` };
  return own.call(at, { ...call, credential });
}
const byOwner = (own: TestMerchant, at: string, call: Call = {}) => by(own, permissions, at, call);
const listed = async (own: TestMerchant): Promise<{ email: string; roleIds: string[] }[]> =>
  (await byOwner(own, path)).body.data.items.map(({ email, roleIds }: { email: string; roleIds: string[] }) => ({
    email,
    roleIds,
  }));

describe('users', () => {
  it('are invited, listed, given other roles, and removed', async () => {
    const own = await aMerchant(service);
    const invited = await byOwner(own, path, { body: { email: ' Ada@Example.com', roleIds: ['viewer', 'viewer'] } });
    expect([invited.status, invited.body.data]).toEqual([
      201,
      {
        id: expect.any(String),
        email: 'ada@example.com',
        roleIds: ['viewer'],
        createdAt: expect.any(String),
        createdBy: 'user-1',
        lastSignInAt: null,
      },
    ]);
    await byOwner(own, path, { body: { email: 'aaron@example.com', roleIds: ['owner'] } });
    const { id } = invited.body.data;
    const changed = await byOwner(own, `${path}/${id}`, { method: 'PATCH', body: { roleIds: ['manager', 'till'] } });
    expect(changed.body.data).toEqual({ ...invited.body.data, roleIds: ['manager', 'till'], apiKeys: [] });
    expect(await listed(own)).toEqual([
      { email: 'aaron@example.com', roleIds: ['owner'] },
      { email: 'ada@example.com', roleIds: ['manager', 'till'] },
    ]);
    const row = await service.deps.collections.users.findOne({ _id: id });
    if (row) await signedIn(service, row);
    const [, ada] = (await byOwner(own, path)).body.data.items;
    expect(Math.abs(Date.parse(ada.lastSignInAt) - Date.now())).toBeLessThan(60_000);
    const second = await byOwner(own, `${path}?page=2&pageSize=1`);
    expect(second.body.data).toEqual({ items: [ada], page: 2, pageSize: 1, total: 2 });
    const removed = await byOwner(own, `${path}/${id}`, { method: 'DELETE' });
    expect(removed.body.data).toEqual({ id, deleted: true, apiKeys: [] });
    expect(outcome(await byOwner(own, `${path}/${id}`, { method: 'DELETE' }))).toEqual([404, 'USER_NOT_FOUND']);
    expect(await listed(own)).toHaveLength(1);
  });

  it('have a unique address in a merchant, and may be users of other merchants', async () => {
    const own = await aMerchant(service);
    const body = { email: 'same@example.com', roleIds: ['viewer'] };
    const answers = await Promise.all(Array.from({ length: 4 }, () => byOwner(own, path, { body })));
    expect(answers.map(outcome).sort()).toEqual([[201, 'ok'], ...Array(3).fill([409, 'USER_EXISTS'])]);
    expect(outcome(await byOwner(await aMerchant(service), path, { body }))).toEqual([201, 'ok']);
  });

  it('are limited in number', async () => {
    const own = await aMerchant(service);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        byOwner(own, path, { body: { email: `user-${index}@example.com`, roleIds: ['viewer'] } }),
      ),
    );
    expect(answers.map(outcome).sort()).toEqual([
      ...Array(6).fill([201, 'ok']),
      ...Array(2).fill([400, 'USER_LIMIT_REACHED']),
    ]);
  });

  it('have at least one role, and only roles that the merchant has', async () => {
    const wrong = (body: object) => byOwner(merchant, path, { body });
    const email = 'ada@example.com';
    expect(outcome(await wrong({ email, roleIds: [] }))).toEqual([400, 'VALIDATION_FAILED']);
    expect(outcome(await wrong({ email: 'ada', roleIds: ['viewer'] }))).toEqual([400, 'VALIDATION_FAILED']);
    expect(outcome(await wrong({ email, roleIds: ['viewer', 'nobody'] }))).toEqual([400, 'ROLE_NOT_FOUND']);
    const { _id } = await aUser(service.deps, { merchantId: merchant.id });
    const patched = await byOwner(merchant, `${path}/${_id}`, { method: 'PATCH', body: { roleIds: ['nobody'] } });
    expect(outcome(patched)).toEqual([400, 'ROLE_NOT_FOUND']);
  });
});

describe('permissions that the caller does not hold are not granted', () => {
  const held: Permission[] = ['users:view', 'users:edit', 'merchants.members:view', 'merchants.programs:view'];
  const views = permissions.filter((permission) => permission.endsWith(':view'));

  it('to a new user', async () => {
    const own = await aMerchant(service);
    const answer = await by(own, held, path, { body: { email: 'ada@example.com', roleIds: ['viewer'] } });
    expect(outcome(answer)).toEqual([403, 'PERMISSION_DENIED']);
    expect(answer.body.error.details.missing).toContain('merchants.campaigns:view');
    const all = [...held, ...views];
    expect(outcome(await by(own, all, path, { body: { email: 'a@example.com', roleIds: ['viewer'] } }))).toEqual([
      201,
      'ok',
    ]);
  });

  it('to an existing user, whose roles may stay', async () => {
    const own = await aMerchant(service);
    await aUser(service.deps, { merchantId: own.id });
    const { _id } = await aUser(service.deps, { merchantId: own.id, roleIds: ['owner', 'till'] });
    const patch = (roleIds: string[], whose: readonly Permission[] = held) =>
      by(own, whose, `${path}/${_id}`, { method: 'PATCH', body: { roleIds } });
    const granted = await patch(['owner', 'till', 'manager']);
    expect(outcome(granted)).toEqual([403, 'PERMISSION_DENIED']);
    expect(outcome(await patch(['till', 'owner']))).toEqual([200, 'ok']);
    expect(outcome(await patch(['owner'], [...held, 'till:use']))).toEqual([200, 'ok']);
    expect((await listed(own)).map(({ roleIds }) => roleIds)).toEqual([['owner'], ['owner']]);
  });

  it('are not taken away from a user either, by changing its roles or by removing it', async () => {
    const own = await aMerchant(service);
    const [, owner] = [
      await aUser(service.deps, { merchantId: own.id }),
      await aUser(service.deps, { merchantId: own.id }),
    ];
    const staff = await aUser(service.deps, { merchantId: own.id, roleIds: ['till'] });
    // A deleted role grants nothing and prevents no change.
    await service.deps.collections.users.updateOne({ _id: staff._id }, { $push: { roleIds: 'gone' } });
    const editor: Permission[] = [...held, 'till:use'];
    const demoted = await by(own, editor, `${path}/${owner._id}`, { method: 'PATCH', body: { roleIds: ['till'] } });
    expect(outcome(demoted)).toEqual([403, 'PERMISSION_DENIED']);
    expect(demoted.body.error.details.missing).toContain('api-keys:create');
    const removed = await by(own, editor, `${path}/${owner._id}`, { method: 'DELETE' });
    expect(outcome(removed)).toEqual([403, 'PERMISSION_DENIED']);
    const other = await by(own, held, `${path}/${staff._id}`, { method: 'DELETE' });
    expect(outcome(other)).toEqual([403, 'PERMISSION_DENIED']);
    expect(outcome(await by(own, editor, `${path}/${staff._id}`, { method: 'DELETE' }))).toEqual([200, 'ok']);
    expect((await listed(own)).map(({ roleIds }) => roleIds)).toEqual([['owner'], ['owner']]);
  });
});

describe('API keys of a user who is removed or loses a role', () => {
  const key = async (own: TestMerchant, credential: Record<string, string>, name: string) => {
    const body = { name, roleIds: ['viewer'] };
    return (await own.call('/auth/api-keys', { body, credential })).body.data;
  };
  const worksWith = async (own: TestMerchant, { key: secret }: { key: string }) =>
    (await own.call('/merchants/me/programs', { credential: { 'X-API-Key': secret } })).status;

  async function keeper() {
    const own = await aMerchant(service);
    const [owner, other] = [
      await aUser(service.deps, { merchantId: own.id }),
      await aUser(service.deps, { merchantId: own.id }),
    ];
    const credential = await signedIn(service, owner);
    const [first, ended, last] = [
      await key(own, credential, 'Till'),
      await key(own, credential, 'Revoked'),
      await key(own, credential, 'Stock'),
    ];
    const others = await key(own, await signedIn(service, other), 'Of another user');
    await own.call(`/auth/api-keys/${ended.id}`, { method: 'DELETE', credential });
    const named = [first, last].map(({ id, name }) => ({ id, name, lastUsedAt: null }));
    return { own, at: `${path}/${owner._id}`, first, last, others, named };
  }

  it.each([
    ['DELETE', undefined],
    ['PATCH', { roleIds: ['till'] }],
  ])('%s names those that still work, and they go on working', async (method, body) => {
    const { own, at, first, last, named } = await keeper();
    const { body: answer } = await byOwner(own, at, { method, body });
    expect(answer.data.apiKeys).toEqual(named);
    expect(await Promise.all([first, last].map((one) => worksWith(own, one)))).toEqual([200, 200]);
  });

  it.each([
    ['DELETE', undefined],
    ['PATCH', { roleIds: ['till'] }],
  ])('%s ends them all with revokeKeys, each with its audit entry', async (method, body) => {
    const { own, at, first, last, others, named } = await keeper();
    const { body: answer } = await byOwner(own, `${at}?revokeKeys=true`, { method, body });
    expect(answer.data.apiKeys).toEqual(named);
    expect(await Promise.all([first, last, others].map((one) => worksWith(own, one)))).toEqual([401, 401, 200]);
    const audited = await service.deps.collections.audit
      .find({ merchantId: own.id, action: 'api-key.revoke' })
      .toArray();
    expect(audited.map(({ targetId }) => targetId)).toEqual(expect.arrayContaining([first.id, last.id]));
    expect(audited).toHaveLength(3);
  });

  it('are revoked by whom the keys endpoint lets, and all of the change or nothing is done', async () => {
    const { own, at, first } = await keeper();
    const most = permissions.filter((permission) => permission !== 'api-keys:delete');
    const staff = await aUser(service.deps, { merchantId: own.id, roleIds: ['till'] });
    const refused = await by(own, most, `${path}/${staff._id}?revokeKeys=true`, { method: 'DELETE' });
    expect(outcome(refused)).toEqual([403, 'PERMISSION_DENIED']);
    const ofOwner = await aMerchant(service, { roleIds: ['owner'] });
    const { _id } = await aUser(service.deps, { merchantId: ofOwner.id, roleIds: ['till'] });
    const byKey = await ofOwner.call(`${path}/${_id}?revokeKeys=true`, { method: 'DELETE' });
    expect(outcome(byKey)).toEqual([403, 'CONSOLE_SESSION_REQUIRED']);
    const owners = await service.deps.collections.users.find({ merchantId: own.id, roleIds: 'owner' }).toArray();
    for (const { _id: id } of owners)
      if (!at.endsWith(id)) await byOwner(own, `${path}/${id}`, { method: 'PATCH', body: { roleIds: ['viewer'] } });
    const last = await byOwner(own, `${at}?revokeKeys=true`, { method: 'DELETE' });
    expect(outcome(last)).toEqual([409, 'LAST_OWNER']);
    expect(await worksWith(own, first)).toBe(200);
  });

  /** Dependencies whose first commit is preceded by `meanwhile`. */
  function meanwhile(work: () => Promise<unknown>): Deps {
    const { deps } = service;
    let done: Promise<unknown> | undefined;
    const groupCommit: Deps['groupCommit'] = async (transaction) => {
      done ??= work();
      await done;
      return deps.groupCommit(transaction);
    };
    return { ...deps, groupCommit };
  }

  it.each([
    [
      'removed',
      'INVALID_TOKEN',
      (id: string, merchantId: string) => removeUser(service.deps, { merchantId, id, checkGrant }),
    ],
    [
      'demoted',
      'PERMISSION_DENIED',
      (id: string, merchantId: string) =>
        changeRoles(service.deps, { merchantId, id, roleIds: ['manager'], checkGrant }),
    ],
  ] as const)('are not made by one who was %s since the request came in, nor are users', async (_, code, end) => {
    const merchantId = newId();
    await aUser(service.deps, { merchantId });
    const { apiKeys, users } = service.deps.collections;
    const make = {
      key: (deps: Deps, maker: UserRow) =>
        createApiKey(deps, { merchantId, createdBy: maker._id, name: 'Till', roleIds: ['viewer'], checkGrant, maker }),
      user: (deps: Deps, maker: UserRow) =>
        createUser(deps, {
          merchantId,
          createdBy: maker._id,
          email: 'eve@example.com',
          roleIds: ['viewer'],
          checkGrant,
          maker,
        }),
    };
    for (const made of [make.key, make.user]) {
      const [before, during] = [await aUser(service.deps, { merchantId }), await aUser(service.deps, { merchantId })];
      await end(before._id, merchantId);
      await expect(made(service.deps, before)).rejects.toMatchObject({ code });
      const ending = meanwhile(() => end(during._id, merchantId));
      await expect(made(ending, during)).rejects.toMatchObject({ code });
    }
    expect(await apiKeys.countDocuments({ merchantId })).toBe(0);
    expect(await users.countDocuments({ merchantId, email: 'eve@example.com' })).toBe(0);
  });

  it('are named and revoked also when they were made while the user was being demoted', async () => {
    const own = await aMerchant(service);
    await aUser(service.deps, { merchantId: own.id });
    const owner = await aUser(service.deps, { merchantId: own.id });
    const credential = await signedIn(service, owner);
    let made: { id: string; key: string } | undefined;
    const deps = meanwhile(async () => {
      made = await key(own, credential, 'Late');
    });
    const change = { merchantId: own.id, id: owner._id, roleIds: ['till'], checkGrant, revokeKeys: true };
    const { keys } = await changeRoles(deps, change);
    expect(keys.map(({ _id }) => _id)).toEqual([made?.id]);
    expect(await worksWith(own, { key: made?.key ?? '' })).toBe(401);
  });

  it('are named and revoked by the operator’s command', async () => {
    const { own, at, first, last } = await keeper();
    const user = await service.deps.collections.users.findOne({ _id: at.slice(path.length + 1) });
    const line = `remove ${user?.email} --merchant ${own.id} --revoke-keys`;
    const ran = await runOn(service, usersCommand, line.split(' '), { PUBLIC_URL: service.deps.config.PUBLIC_URL });
    expect(ran.lines.slice(1)).toEqual([`revoked API key ${first.id} (Till)`, `revoked API key ${last.id} (Stock)`]);
    expect(await worksWith(own, first)).toBe(401);
  });
});

describe('the last owner', () => {
  it('can be neither removed nor demoted, even by themselves', async () => {
    const own = await aMerchant(service);
    const owner = await aUser(service.deps, { merchantId: own.id });
    await aUser(service.deps, { merchantId: own.id, roleIds: ['manager'] });
    const one = `${path}/${owner._id}`;
    const credential = await signedIn(service, owner);
    const demote = { method: 'PATCH', body: { roleIds: ['manager'] }, credential };
    expect(outcome(await own.call(one, demote))).toEqual([409, 'LAST_OWNER']);
    expect(outcome(await own.call(one, { method: 'DELETE', credential }))).toEqual([409, 'LAST_OWNER']);
    expect(outcome(await own.call('/auth/session', { credential }))).toEqual([200, 'ok']);
    const kept = await own.call(one, { method: 'PATCH', body: { roleIds: ['owner', 'till'] }, credential });
    expect(outcome(kept)).toEqual([200, 'ok']);
    await aUser(service.deps, { merchantId: own.id });
    expect(outcome(await own.call(one, demote))).toEqual([200, 'ok']);
  });

  it('stays when several processes remove and demote all owners at the same time', async () => {
    const { config, log } = service.deps;
    const other = createDeps({ config, log, timeouts: 'tool' });
    try {
      for (let round = 0; round < 5; round += 1) {
        const merchantId = newId();
        const owners = await Promise.all(Array.from({ length: 4 }, () => aUser(service.deps, { merchantId })));
        const ended = await Promise.allSettled(
          owners.map(({ _id: id }, index) => {
            const deps = index % 2 === 0 ? service.deps : other;
            return index < 2
              ? removeUser(deps, { merchantId, id, checkGrant: () => {} })
              : changeRoles(deps, { merchantId, id, roleIds: ['viewer'], checkGrant: () => {} });
          }),
        );
        const refused = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
        expect(refused).toEqual(['LAST_OWNER']);
        expect(await service.deps.collections.users.countDocuments({ merchantId, roleIds: 'owner' })).toBe(1);
      }
    } finally {
      await other.close();
    }
  });

  it('is counted in the merchant: owners of other merchants do not count', async () => {
    const merchantId = newId();
    await aUser(service.deps, { merchantId: newId() });
    const { _id: id } = await aUser(service.deps, { merchantId });
    await expect(removeUser(service.deps, { merchantId, id, checkGrant: () => {} })).rejects.toMatchObject({
      code: 'LAST_OWNER',
    });
  });
});

describe('npm run users', () => {
  const run = (line: string) =>
    runOn(service, usersCommand, line.split(' '), { PUBLIC_URL: service.deps.config.PUBLIC_URL });
  const tokenIn = (lines: string[]) => lines.join('\n').match(/\/console\/sign-in\/(\S+)/)?.[1] ?? '';

  it('invites with a link that signs in, shows further links, lists, and removes', async () => {
    const { id } = await aMerchant(service);
    const invited = await run(`invite Ada@example.com --merchant ${id} --role owner --role till`);
    expect(invited).toMatchObject({ code: 0, errors: [] });
    expect(invited.lines[0]).toBe(`invited ada@example.com to merchant ${id} as owner, till`);
    expect(invited.lines[1]).toMatch(new RegExp(`^${service.publicUrl}/console/sign-in/[\\w-]{32}$`));
    expect((await press(service, tokenIn(invited.lines))).status).toBe(303);
    const linked = await run(`link ada@example.com --merchant ${id}`);
    expect((await press(service, tokenIn(linked.lines))).status).toBe(303);
    expect((await run(`list --merchant ${id}`)).lines.join('\n')).toMatch(/ada@example\.com +owner,till +20/);
    expect(await run(`remove ada@example.com --merchant ${id}`)).toMatchObject({
      code: 1,
      errors: ['The last owner can be neither removed nor demoted; name another owner first.'],
    });
    await createUser(service.deps, {
      ...{ merchantId: id, email: 'b@example.com', roleIds: ['owner'], createdBy: 'test' },
      checkGrant: () => {},
    });
    expect(await run(`remove ada@example.com --merchant ${id}`)).toMatchObject({ code: 0, errors: [] });
  });

  it.each([
    ['invite --merchant m --role owner', 'name one email address'],
    ['invite a@example.com b@example.com --merchant m --role owner', 'name one email address'],
    ['invite a@example.com --role owner', '--merchant is required'],
    ['invite a@example.com --merchant m', '--role is required'],
    [
      'invite a@example.com --merchant m --role king',
      'merchant m has no role "king"; its roles: integration, manager, owner, till, viewer',
    ],
    ['link a@example.com --merchant m', 'merchant m has no user a@example.com'],
    ['remove a@example.com --merchant m', 'merchant m has no user a@example.com'],
  ])('%s is refused with a message', async (line, mistake) => {
    expect(await run(line)).toMatchObject({ code: 1, lines: [], errors: [mistake] });
  });
});
