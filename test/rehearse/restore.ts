// A backup, everything lost after it, and the restore, by the commands of docs/operating.md and docs/customers-data.md.
// What was acknowledged since the backup is gone, and its keys, events, erasures and passes are as the documents say.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import { z } from 'zod';
import { type Answer, type Asked, type Caller, createCaller, isAnswer } from '../crash/rig/caller.js';
import { ownerToken, toldOf } from '../crash/rig/erasures.js';
import type { Site } from '../crash/rig/world.js';
import { merchantId as loadMerchant } from '../crash/rig/world.js';
import { until } from '../rig/checks/until.js';
import { services, temporalRoles } from './composeFile.js';
import type { RunningLoad } from './load.js';
import { mongodbIsUp, published, type Rehearsal } from './rehearsal.js';

const member = z.object({ data: z.object({ id: z.string(), balance: z.number() }) });
const initialPoints = 20;
const engines = [
  'redis',
  'mongodb',
  'mongodb-init',
  'postgres',
  'temporal-schema',
  ...temporalRoles,
  'temporal-namespace',
];

export async function loseAndRestore(rehearsal: Rehearsal, { site, world }: RunningLoad): Promise<void> {
  const { containers, folders, say, standIns } = rehearsal;
  const caller = createCaller(world);
  const [shown, erased] = [await enroll(caller), await enroll(caller)];
  await world.addPhone(shown);
  const inBackup = '/backups/whole';
  const mount = `${folders.backups}:/backups`;
  const command = (name: string, ...args: string[]) =>
    containers.runOnce('api', { mount, command: ['node', `dist/stack/commands/${name}.js`, ...args] });
  const keys = (...args: string[]) =>
    containers.exec('api', 'node', 'dist/stack/commands/keys.js', ...args, '--merchant', loadMerchant);
  const [apiKey = '', made = ''] = (await keys('create', '--name', 'lost', '--role', 'integration')).split('\n');
  const lost = createCaller({ ...world, apiKey });
  const ofShown: Asked = { method: 'GET', path: `/merchants/me/members/${shown}` };
  const since = new Date().toISOString();
  await command('backup', inBackup);
  await keys('revoke', made.split(' ')[1] ?? '');
  assert.equal((await definite(lost, ofShown)).status, 401, 'A revoked key is refused.');

  const key = randomUUID();
  const path = `/merchants/me/members/${shown}/points`;
  const change: Asked = { method: 'PATCH', path, key, body: { delta: 7 } };
  const first = await definite(caller, change);
  assert.equal(first.status, 200, first.text);
  const fetched = await passOf(rehearsal, site, shown);
  assert.equal(fetched.status, 200);
  await eraseAtProxy(site, erased);
  await published(rehearsal);
  const list = await containers.exec('api', 'node', 'dist/stack/commands/merchants.js', 'erasures', '--since', since);
  await writeFile(join(folders.backups, 'erasures.jsonl'), list);
  await until(async () => toldOf({ receivers: standIns.receivers }, { id: erased }).accepted > 0, {});
  const ofChange = (text: string) => /"transactionId":"([^"]+)"/.exec(text)?.[1];

  for (const service of services) await containers.stop(service);
  await containers.lose(engines, ['mongodb', 'mongodb-config']);
  for (const name of await readdir(folders.postgres)) await rm(join(folders.postgres, name), { recursive: true });
  say('stopped the service and lost MongoDB, Temporal and Redis');
  await containers.up(engines);
  await containers.healthy('temporal');
  await command('restore', inBackup);
  await command('merchants', 're-erase', '/backups/erasures.jsonl');
  for (const service of services) await containers.podman('start', service);
  for (const service of services) await containers.healthy(service);
  await mongodbIsUp(rehearsal);

  const after = await definite(caller, ofShown);
  assert.equal(member.parse(JSON.parse(after.text)).data.balance, initialPoints, 'The change since then is gone.');
  assert.equal((await definite(lost, ofShown)).status, 200, 'A key revoked since the backup works again.');
  const gone = await definite(caller, { method: 'GET', path: `/merchants/me/members/${erased}` });
  assert.equal(gone.status, 404, 'An erased member stays erased.');
  const rebuilt = () => passOf(rehearsal, site, shown, fetched.modified);
  await until(async () => (await rebuilt()).status === 200, { withinMs: 180_000, everyMs: 1_000, seen: rebuilt });
  const again = await definite(caller, change);
  assert.equal(again.status, 200, again.text);
  assert.equal(ofChange(again.text), ofChange(first.text), 'A repeated change has its id again.');
  await published(rehearsal);
  assert.equal(toldOf({ receivers: standIns.receivers }, { id: erased }).variants, 1, 'One body of each erasure.');
  const audited = await containers.exec('api', 'node', 'dist/stack/commands/merchants.js', 'audit', loadMerchant);
  say(`restored: ${audited.trim()}`);
  await Promise.all([caller.close(), lost.close()]);
}

async function enroll(caller: Caller): Promise<string> {
  const body = { programId: 'crash-points', email: `${randomUUID()}@example.com`, initialPoints };
  const answer = await definite(caller, { method: 'POST', path: '/merchants/me/members', key: randomUUID(), body });
  assert.equal(answer.status, 201, answer.text);
  return member.parse(JSON.parse(answer.text)).data.id;
}

async function definite(caller: Caller, asked: Asked): Promise<Exclude<Answer, { lost: string }>> {
  const { answer } = await caller.call(asked);
  assert.ok(isAnswer(answer), JSON.stringify(answer));
  return answer;
}

/** Asks for the pass as a phone does that has the version of `since`. */
async function passOf(
  { proxy, standIns }: Rehearsal,
  { deps }: Site,
  memberId: string,
  since?: string,
): Promise<{ status: number; modified: string }> {
  const found = await deps.collections.members.findOne({ _id: memberId });
  assert.ok(found);
  const path = `/wallet/apple/v1/passes/${standIns.apple.certificates.passTypeId}/${found.serialNumber}`;
  const answer = await fetch(`${proxy.address}${path}`, {
    headers: {
      Authorization: `ApplePass ${found.pass.authenticationToken}`,
      ...(since !== undefined && { 'If-Modified-Since': since }),
    },
    dispatcher: proxy.dispatcher,
  });
  await answer.arrayBuffer();
  return { status: answer.status, modified: answer.headers.get('last-modified') ?? '' };
}

async function eraseAtProxy(site: Site, id: string): Promise<void> {
  const { ca = '' } = site;
  const answer = await fetch(`${site.apis['api-1']}/merchants/me/members/${id}`, {
    method: 'DELETE',
    headers: { Authorization: `Bearer ${await ownerToken({ cluster: site })}` },
    dispatcher: new Agent({ connect: { ca } }),
  });
  assert.equal(answer.status, 200, await answer.text());
}
