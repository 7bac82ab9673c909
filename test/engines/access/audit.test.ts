// The audit (docs/interface.md#410-overview-and-audit): actor, action and target of each change, written with the
// change, and never a secret.
import { writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClientSession, Document } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../schemas/shared/ids.js';
import type { Command } from '../../../stack/commands/command.js';
import { keys } from '../../../stack/commands/keys.js';
import { merchants } from '../../../stack/commands/merchants.js';
import { passes } from '../../../stack/commands/passes.js';
import { programs } from '../../../stack/commands/programs.js';
import { roles } from '../../../stack/commands/roles.js';
import { tokens } from '../../../stack/commands/tokens.js';
import { runOn } from '../../rig/start/commandLine.js';
import { aMerchant, type Call } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

/** The commands of this process that wrote to the audit. */
const audits: { rows: string[]; collections: string[]; isTransaction: boolean }[] = [];

interface CommandOptions {
  session?: ClientSession;
}

const { Connection } = createRequire(import.meta.url)('mongodb/lib/cmap/connection.js');
const { command: send } = Connection.prototype;
Connection.prototype.command = function (
  namespace: unknown,
  command: Document,
  options: CommandOptions,
  ...given: unknown[]
) {
  const { nsInfo, ops } = command;
  const names: string[] = (nsInfo?.documents ?? nsInfo ?? []).map(({ ns }: { ns: string }) => ns.split('.')[1]);
  const statements: Document[] = ops?.documents ?? ops ?? [];
  const rows = statements.flatMap(({ insert, document }) => (names[insert] === 'audit' ? [document._id] : []));
  if (rows.length > 0)
    audits.push({ rows, collections: names, isTransaction: options.session?.inTransaction() === true });
  return send.call(this, namespace, command, options, ...given);
};

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(async () => {
  await service.stop();
  // Otherwise each later query of the fork would seem to come from this file.
  Connection.prototype.command = send;
});

interface Item {
  id: string;
  createdAt: string;
  actor: { type: string; id: string; name?: string };
  action: string;
  targetId: string;
  targetName?: string;
  fields?: string[];
  changes?: { field: string; from?: unknown; to?: unknown }[];
  address: string | null;
  requestId: string | null;
}

/** A merchant whose owner calls from the console. */
async function anOwner() {
  const merchant = await aMerchant(service);
  const credential = { Authorization: `Bearer ${await merchant.token()}` };
  const call = async (path: string, given: Call = {}) => {
    const answer = await merchant.call(path, { credential, ...given });
    if (answer.status >= 400) throw new Error(`${path}: ${answer.text}`);
    return answer;
  };
  const audit = async (query = ''): Promise<{ items: Item[]; total: number }> =>
    (await call(`/merchants/me/audit${query}`)).body.data;
  return { merchant, call, audit };
}

const subscription = { url: 'http://127.0.0.1:9/hook', events: ['points.changed'], secret: 'a-secret-nobody-may-see' };
const program = { slug: 'audited', name: 'Audited', style: 'points', fields: { primaryLabel: 'POINTS' } };
const post = { method: 'POST' };
const remove = { method: 'DELETE' };
const patch = (body: object) => ({ method: 'PATCH', body });

describe('every change', () => {
  it('is logged with its actor, its target, the names of its fields, the network and the request', async () => {
    const { merchant, call, audit } = await anOwner();
    const all = '/merchants/me';
    const done: [action: string, targetId: string][] = [];
    const did = (action: string, targetId: string) => done.unshift([action, targetId]);

    const key = (await call('/auth/api-keys', { body: { name: 'Till', roleIds: ['viewer'] } })).body.data;
    did('api-key.create', key.id);
    await call(`/auth/api-keys/${key.id}`, remove);
    did('api-key.revoke', key.id);
    const role = (await call(`${all}/roles`, { body: { name: 'Staff', permissions: ['merchants.members:view'] } })).body
      .data;
    did('role.create', role.id);
    await call(`${all}/roles/${role.id}`, remove);
    did('role.delete', role.id);
    const { _id } = (await call(`${all}/programs`, { body: { ...program, slug: `audited-${role.id.slice(0, 8)}` } }))
      .body.data;
    did('program.create', _id);
    await call(`${all}/programs/${_id}`, patch({ goal: 10 }));
    did('program.edit', _id);
    await call(`${all}/programs/${_id}/publish`, post);
    did('program.publish', _id);
    for (const verb of ['archive', 'restore']) {
      await call(`${all}/programs/${_id}/${verb}`, post);
      did(`program.${verb}`, _id);
      await call(`${all}/programs/${_id}/${verb}`, post);
    }
    const hook = (await call(`${all}/webhooks`, { body: subscription })).body.data;
    did('webhook.create', hook.id);
    await call(`${all}/webhooks/${hook.id}`, patch({ name: 'Renamed', enabled: false }));
    did('webhook.edit', hook.id);
    const rotated = (await call(`${all}/webhooks/${hook.id}/rotate-secret`, post)).body.data;
    did('webhook.rotate-secret', hook.id);
    await call(`${all}/webhooks/${hook.id}/test`, post);
    did('webhook.test', hook.id);
    const [delivery] = (await call(`${all}/webhooks/delivery-logs`)).body.data.items;
    await call(`${all}/webhooks/delivery-logs/${delivery.id}/replay`, post);
    did('delivery.replay', delivery.id);
    await call(`${all}/webhooks/${hook.id}`, patch({ enabled: true }));
    did('webhook.edit', hook.id);
    await call(`${all}/webhooks/${hook.id}/replay`, { body: { since: '2026-01-01T00:00:00Z' } });
    did('webhook.replay', hook.id);
    await call(`${all}/webhooks/${hook.id}`, remove);
    did('webhook.delete', hook.id);
    const one = `${all}/members/${(await call(`${all}/members`, { body: { programId: _id } })).body.data.id}`;
    const memberId = one.split('/').at(-1) ?? '';
    did('member.create', memberId);
    // A letter that no random id contains.
    await call(one, patch({ firstName: 'Zoë' }));
    did('member.edit', memberId);
    await call(`${one}/tags`, { body: { tags: ['regular'] } });
    did('member.tag', memberId);
    await call(`${one}/tags`, { ...remove, body: { tags: ['regular'] } });
    did('member.untag', memberId);
    await call(`${one}/points`, patch({ delta: 10 }));
    await call(`${one}/redeem`, post);
    await call(`${one}/push`, post);
    did('member.push', memberId);
    await call(`${one}/card-link`, post);
    did('member.card-link', memberId);
    await call(`${one}/status`, patch({ status: 'voided' }));
    did('member.status', memberId);
    await call(`${one}/status`, patch({ status: 'voided' }));
    await call(`${one}/export`);
    did('member.export', memberId);
    await call(`${one.toUpperCase().replace(/.*\//, `${all}/members/`)}/events.csv`);
    did('member.export-timeline', memberId);
    await call(`${all}/members.csv`);
    did('member.export-list', merchant.id);
    await call(`${one}/events`);
    await call(one, remove);
    did('member.erase', memberId);
    const form = new FormData();
    form.set('programId', _id);
    form.set('file', new Blob(['firstName\nBen\n'], { type: 'text/csv' }), 'people.csv');
    const { batchId } = (await call(`${all}/members/import`, { ...post, body: form })).body.data;
    did('import.start', batchId);
    await call(`${all}/batches/${batchId}/errors.csv`);
    did('import.export-errors', batchId);
    await call(`${all}/batches/${batchId}/known.csv`);
    did('import.export-known', batchId);
    expect((await merchant.call(`${all}/batches/${memberId}/errors.csv`, {})).status).toBe(404);
    const campaign = (await call(`${all}/campaigns`, { body: { tags: ['regular'], message: 'Hello' } })).body.data;
    did('campaign.send', campaign.id);

    const { items, total } = await audit('?pageSize=100');
    expect(items.map(({ action, targetId }) => [action, targetId])).toEqual(done);
    expect(total).toBe(done.length);
    for (const { actor, address } of items) {
      expect(actor).toEqual({ type: 'user', id: 'user-1' });
      expect(address).toBe('127.0.0.0/24');
    }
    const edit = items.filter(({ action }) => action === 'webhook.edit').at(-1);
    expect(edit?.fields).toEqual(['name', 'enabled']);
    const said = JSON.stringify(await service.deps.collections.audit.find({ merchantId: merchant.id }).toArray());
    for (const secret of [key.key, subscription.secret, rotated.secret, 'Zoë']) expect(said).not.toContain(secret);
  });

  it('is shown with the present name of its target, to those who may view it, until it is erased', async () => {
    const { merchant, call, audit } = await anOwner();
    const all = '/merchants/me';
    const { _id } = (await call(`${all}/programs`, { body: { ...program, slug: `named-${crypto.randomUUID()}` } })).body
      .data;
    await call(`${all}/programs/${_id}/publish`, post);
    const { id } = (await call(`${all}/members`, { body: { programId: _id, firstName: 'Ada', lastName: 'L' } })).body
      .data;
    await call(`${all}/webhooks`, { body: { ...subscription, name: 'Till' } });
    await call('/auth/api-keys', { body: { name: 'Export', roleIds: ['viewer'] } });
    const names = ({ items }: { items: Item[] }) =>
      Object.fromEntries(items.map(({ action, targetName }) => [action, targetName]));
    const owner = {
      ...{ 'program.create': 'Audited', 'program.publish': 'Audited', 'member.create': 'Ada L' },
      ...{ 'webhook.create': 'Till', 'api-key.create': 'Export' },
    };
    expect(names(await audit())).toEqual(owner);
    const { id: role } = (await call(`${all}/roles`, { body: { name: 'Audit', permissions: ['audit:view'] } })).body
      .data;
    const credential = { Authorization: `Bearer ${await merchant.token({ roleIds: [role] })}` };
    const narrow = await merchant.call(`${all}/audit`, { credential });
    expect(narrow.body.data.items.length).toBeGreaterThan(4);
    expect(Object.values(names(narrow.body.data)).filter((name) => name !== undefined)).toEqual([]);
    await call(`${all}/members/${id}`, remove);
    expect(names(await audit())).toMatchObject({ 'member.create': undefined, 'program.create': 'Audited' });
  });

  it('says from what to what it went, but of secrets and people', async () => {
    const { call, audit } = await anOwner();
    const all = '/merchants/me';
    const { _id } = (await call(`${all}/programs`, { body: { ...program, slug: `change-${newId()}` } })).body.data;
    await call(`${all}/programs/${_id}/publish`, post);
    await call(`${all}/programs/${_id}`, patch({ goal: 10, pushMessages: false }));
    await call(`${all}/programs/${_id}/publish`, post);
    const hook = (await call(`${all}/webhooks`, { body: subscription })).body.data;
    await call(`${all}/webhooks/${hook.id}`, patch({ url: 'http://127.0.0.1:9/t0ken', name: 'Till', enabled: true }));
    await call(`${all}/webhooks/${hook.id}`, patch({ retryPolicy: { maxAttempts: 3 } }));
    const reader = (await call(`${all}/readers`, { body: { name: 'Bar', location: 'Hall' } })).body.data;
    await call(`${all}/readers/${reader.id}`, patch({ location: null, programIds: [_id] }));
    const user = { email: 'uli@example.com', roleIds: ['till'] };
    const { id: userId } = (await call(`${all}/users`, { body: user })).body.data;
    await call(`${all}/users/${userId}`, patch({ roleIds: ['manager'] }));
    const { id } = (await call(`${all}/members`, { body: { programId: _id, firstName: 'Zoë' } })).body.data;
    await call(`${all}/members/${id}`, patch({ firstName: 'Zoé' }));
    await call(`${all}/members/${id}/status`, patch({ status: 'voided', reason: 'Zoé left' }));
    const { items } = await audit();
    const told = items.flatMap(({ action, changes }) => (changes ? [[action, changes]] : [])).reverse();
    const goal = [
      { field: 'pushMessages', from: true, to: false },
      { field: 'goal', to: 10 },
    ];
    expect(told).toEqual([
      ['program.edit', expect.arrayContaining(goal)],
      ['program.publish', expect.arrayContaining(goal)],
      ['webhook.edit', [{ field: 'name', from: '127.0.0.1:9', to: 'Till' }, { field: 'url' }]],
      [
        'webhook.edit',
        [
          { field: 'retryPolicy.maxAttempts', from: 8, to: 3 },
          { field: 'retryPolicy.factor', from: 4, to: 1 },
        ],
      ],
      [
        'reader.edit',
        [
          { field: 'programIds', to: [_id] },
          { field: 'location', from: 'Hall' },
        ],
      ],
      ['user.edit', [{ field: 'roleIds', from: ['till'], to: ['manager'] }]],
      ['member.status', [{ field: 'status', from: 'active', to: 'voided' }, { field: 'reason' }]],
    ]);
    expect(JSON.stringify(items.map(({ targetName, ...entry }) => entry))).not.toMatch(/Zoé|t0ken|a-secret/);
    const [newest, oldest] = (await call(`${all}/programs/${_id}/versions`)).body.data.items;
    expect(newest.changes).toEqual(expect.arrayContaining(goal));
    expect(oldest.changes).toBeUndefined();
  });

  it('is not logged when it was refused', async () => {
    const { merchant, call, audit } = await anOwner();
    const hook = (await call('/merchants/me/webhooks', { body: subscription })).body.data;
    const refused = [
      await merchant.call(`/merchants/me/webhooks/${hook.id}`, patch({ url: 'http://10.0.0.1/' })),
      await merchant.call('/merchants/me/webhooks/nobody', remove),
      await merchant.call('/merchants/me/members/nobody/status', patch({ status: 'voided' })),
      await merchant.call('/auth/api-keys', { body: { name: 'x', roleIds: ['owner'] } }),
    ];
    for (const { status } of refused) expect(status).toBeGreaterThanOrEqual(400);
    expect((await audit()).items.map(({ action }) => action)).toEqual(['webhook.create']);
  });

  it('is not logged when it changed nothing', async () => {
    const { call, audit } = await anOwner();
    const all = '/merchants/me';
    const { _id } = (await call(`${all}/programs`, { body: { ...program, slug: `same-${newId()}` } })).body.data;
    await call(`${all}/programs/${_id}/publish`, post);
    const hook = (await call(`${all}/webhooks`, { body: { ...subscription, name: 'Till' } })).body.data;
    const reader = (await call(`${all}/readers`, { body: { name: 'Bar', location: 'Hall' } })).body.data;
    const user = { email: `${newId()}@example.com`, roleIds: ['till'] };
    const { id: userId } = (await call(`${all}/users`, { body: user })).body.data;
    const rule = `${all}/programs/${_id}/automatic-messages`;
    const { total } = await audit();
    await call(`${all}/webhooks/${hook.id}`, patch({ enabled: true }));
    await call(
      `${all}/webhooks/${hook.id}`,
      patch({ name: 'Till', events: subscription.events, url: subscription.url }),
    );
    await call(`${all}/readers/${reader.id}`, patch({ name: 'Bar', location: 'Hall', programIds: null }));
    await call(`${all}/users/${userId}`, patch({ roleIds: ['till'] }));
    await call(rule, patch({ audience: 'away', on: false }));
    expect((await audit()).total).toBe(total);
    await call(`${all}/webhooks/${hook.id}`, patch({ name: 'Bar' }));
    await call(`${all}/readers/${reader.id}`, patch({ location: null }));
    await call(`${all}/users/${userId}`, patch({ roleIds: ['manager'] }));
    await call(rule, patch({ audience: 'away', on: false, hour: 9 }));
    expect((await audit()).total).toBe(total + 4);
  });

  it('is written in the transaction that makes it', async () => {
    const { merchant, call } = await anOwner();
    const hook = (await call('/merchants/me/webhooks', { body: subscription })).body.data;
    await call(`/merchants/me/webhooks/${hook.id}`, patch({ name: 'Renamed' }));
    await call(`/merchants/me/webhooks/${hook.id}`, remove);
    await call(`/merchants/me/members/${(await merchant.enroll()).id}/tags`, { body: { tags: ['regular'] } });
    const written = await service.deps.collections.audit.find({ merchantId: merchant.id }).toArray();
    expect(written).toHaveLength(5);
    for (const { _id, action } of written) {
      const commands = audits.filter(({ rows }) => rows.includes(_id));
      expect(commands).not.toEqual([]);
      const changed = action.startsWith('member.') ? 'members' : 'subscriptions';
      for (const { isTransaction, collections } of commands) {
        expect(isTransaction).toBe(true);
        expect(collections).toEqual(expect.arrayContaining(['audit', changed]));
      }
    }
  });
});

describe('the list', () => {
  it('is filtered by actor, action, target and time, page by page, newest first', async () => {
    const { merchant, call, audit } = await anOwner();
    const hook = (await call('/merchants/me/webhooks', { body: subscription })).body.data;
    const requestId = 'request-of-the-key';
    await merchant.call(`/merchants/me/webhooks/${hook.id}`, {
      ...patch({ name: 'By key' }),
      headers: { 'X-Request-Id': requestId },
    });
    await call(`/merchants/me/webhooks/${hook.id}`, patch({ name: 'By user' }));
    const other = (await call('/merchants/me/webhooks', { body: { ...subscription, name: 'other' } })).body.data;
    const actions = async (query: string) => (await audit(query)).items.map(({ action }) => action);
    expect(await actions('')).toEqual(['webhook.create', 'webhook.edit', 'webhook.edit', 'webhook.create']);
    expect(await actions('?action=webhook.edit')).toEqual(['webhook.edit', 'webhook.edit']);
    expect(await actions(`?targetId=${other.id}`)).toEqual(['webhook.create']);
    expect(await actions('?actor=nobody')).toEqual([]);
    const key = await service.deps.collections.apiKeys.findOne({ merchantId: merchant.id });
    const byKey = await audit(`?actor=${key?._id}`);
    expect(byKey).toMatchObject({
      total: 1,
      items: [{ actor: { type: 'api-key', id: key?._id, name: 'test key' }, requestId, targetId: hook.id }],
    });
    const at = byKey.items[0]?.createdAt ?? '';
    expect(await actions(`?since=${at}`)).toEqual(['webhook.create', 'webhook.edit', 'webhook.edit']);
    const ids = (await audit()).items.map(({ id }) => id);
    const pages = await Promise.all([1, 2].map((page) => audit(`?pageSize=3&page=${page}`)));
    expect(pages.flatMap(({ items }) => items.map(({ id }) => id))).toEqual(ids);
    expect(
      (
        await merchant.call('/merchants/me/audit?action=nothing', {
          credential: { Authorization: `Bearer ${await merchant.token()}` },
        })
      ).status,
    ).toBe(400);
  });

  it('needs its permission, and shows only the own merchant', async () => {
    const { merchant, call } = await anOwner();
    await call('/merchants/me/webhooks', { body: subscription });
    const { status, body } = await merchant.call('/merchants/me/audit');
    expect([status, body.error.details]).toEqual([403, { missing: ['audit:view'] }]);
    const viewer = await aMerchant(service, { roleIds: ['viewer'] });
    expect((await viewer.call('/merchants/me/audit')).body.data).toMatchObject({ items: [], total: 0 });
    for (const method of ['POST', 'PATCH', 'DELETE'])
      expect((await viewer.call('/merchants/me/audit', { method })).status).toBe(405);
  });
});

describe("an operator's command", () => {
  it('is logged under the merchant that it changes', async () => {
    const { merchant, audit } = await anOwner();
    const { id } = merchant;
    const run = async (command: Command, ...argv: string[]) => {
      const { code, errors } = await runOn(service, command, argv);
      expect([code, errors]).toEqual([0, []]);
    };
    await run(merchants, 'limit', id, '--roles', '3');
    for (const verb of ['suspend', 'suspend', 'resume', 'resume']) await run(merchants, verb, id);
    await run(roles, 'create', '--merchant', id, '--name', 'Staff', 'merchants.members:view');
    await run(keys, 'create', '--merchant', id, '--name', 'First', '--role', 'viewer');
    await run(tokens, 'create', '--merchant', id, '--user', 'ada', '--role', 'viewer');
    const file = join(await mkdtemp(join(tmpdir(), 'audit-')), 'program.json');
    const _id = `of-${id}`;
    writeFileSync(
      file,
      JSON.stringify({
        ...program,
        _id,
        slug: `by-operator-${id.toLowerCase().replace(/[^a-z0-9]/g, 'x')}`,
        merchantId: id,
      }),
    );
    await run(programs, 'apply', file);
    await run(passes, 'rebuild', _id);
    for (let time = 0; time < 2; time += 1) await run(programs, 'archive', _id);
    const { items } = await audit();
    expect(items.map(({ action }) => action)).toEqual([
      'program.archive',
      'program.rebuild',
      'program.apply',
      'token.create',
      'api-key.create',
      'role.create',
      'merchant.resume',
      'merchant.suspend',
      'merchant.limit',
    ]);
    for (const { actor, address, requestId } of items)
      expect({ actor, address, requestId }).toEqual({
        actor: { type: 'operator', id: 'operator' },
        address: null,
        requestId: null,
      });
    const targets = items.map(({ targetId }) => targetId);
    expect([targets[0], targets[1], targets[2], targets[3], targets[8]]).toEqual([_id, _id, _id, 'ada', id]);
    expect((await audit('?actor=operator')).total).toBe(9);
  });
});
