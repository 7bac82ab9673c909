// What the rehearsal goes through: going live as docs/going-live.md says, then a load through the proxy while APIs and
// workers are restarted one at a time, processes are killed, and what they depend on is restarted.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, fetch } from 'undici';
import { z } from 'zod';
import { parseJson } from '../../platform/parseJson.js';
import { until } from '../rig/checks/until.js';
import { apis, workers } from './composeFile.js';
import type { Containers } from './containers.js';

export interface Rehearsal {
  containers: Containers;
  /** Of the proxy. */
  address: string;
  /** PEM of the authority of the proxy's certificate. */
  ca: string;
  /** The folder of the secrets. */
  secrets: string;
  say: (line: string) => void;
}

const merchantId = 'corner-cafe';
const program = 'docs/examples/points.json';
const callers = 4;
/** As the compose file starts mongod, which the embedded engine takes only as a command. */
const limitTransactions = `
  import { readFile } from 'node:fs/promises';
  import { MongoClient } from 'mongodb';
  const client = new MongoClient(await readFile(process.env.MONGODB_URI_FILE, 'utf8'));
  await client.db('admin').command({ setParameter: 1, transactionLifetimeLimitSeconds: 5 });
  await client.close();
`;

interface Load {
  /** Answers of 500 and more, and connections that ended without an answer. */
  faults: string[];
  /** Ends the load, and returns the points that were acknowledged for each member. */
  stop: () => Promise<Map<string, number>>;
}

export async function play(rehearsal: Rehearsal): Promise<void> {
  const { containers, say } = rehearsal;
  say('starting all containers');
  await containers.up();
  for (const service of [...apis, ...workers, 'proxy']) await containers.healthy(service);
  say('all are healthy');
  await containers.exec('api', 'node', '--input-type=module', '--eval', limitTransactions);
  await hardened(rehearsal);
  const call = callerOf(rehearsal, await goLive(rehearsal));

  const load = await startLoad(call);
  await sleep(5_000);
  for (const service of [...workers, ...apis]) {
    const begun = performance.now();
    await containers.podman('stop', service, '--time', '45');
    const { ExitCode } = (await containers.inspect(service)).State;
    assert.equal(ExitCode, 0, `${service} ends with ${ExitCode} after SIGTERM`);
    await containers.podman('start', service);
    await containers.healthy(service);
    await sleep(3_000);
    say(`restarted ${service} in ${Math.round((performance.now() - begun) / 1000)} s; ${load.faults.length} faults`);
  }
  assert.deepEqual(load.faults, [], 'A rolling restart has no answer of 500 or more.');

  for (const service of [...workers, ...apis]) {
    await containers.podman('kill', service);
    await containers.podman('start', service);
    await containers.healthy(service);
    say(`killed ${service}; ${load.faults.length} faults`);
  }
  for (const service of ['redis', 'temporal', 'postgres']) {
    await containers.podman('restart', service, '--time', '30');
    await containers.healthy(service);
    for (const one of [...apis, ...workers]) await containers.healthy(one);
    say(`restarted ${service}; ${load.faults.length} faults`);
  }
  await sleep(5_000);
  const acknowledged = await load.stop();
  for (const fault of load.faults) say(`  fault: ${fault}`);
  for (const [memberId, points] of acknowledged) {
    const { body } = await call(`/merchants/me/members/${memberId}`);
    assert.equal(aboutMember.parse(body).data.balance, points, `member ${memberId} has what was acknowledged`);
  }
  await published(rehearsal);
  say(`${acknowledged.size} members have exactly what was acknowledged, and every event is published`);
}

/** Read-only, without capabilities, not as root, and with no secret where `inspect` shows it. */
async function hardened({ containers, secrets, say }: Rehearsal): Promise<void> {
  const values = await Promise.all((await readdir(secrets)).map((name) => readFile(join(secrets, name), 'utf8')));
  for (const service of [...apis, ...workers]) {
    const { Config, HostConfig, EffectiveCaps } = await containers.inspect(service);
    assert.equal(HostConfig.ReadonlyRootfs, true, `${service} has a read-only file system`);
    assert.deepEqual(EffectiveCaps ?? [], [], `${service} has no capabilities`);
    assert.ok(HostConfig.SecurityOpt.includes('no-new-privileges'), `${service} gains no privileges`);
    assert.equal(Config.User, 'node');
    const shown = Config.Env.join('\n');
    for (const value of values) assert.ok(value === '' || !shown.includes(value), `${service} shows a secret`);
  }
  say('the service is read-only, has no capabilities and shows no secret');
}

/** The commands of docs/going-live.md; returns the API key. */
async function goLive({ containers }: Rehearsal): Promise<string> {
  const command = (name: string, ...args: string[]) =>
    containers.exec('api', 'node', `dist/stack/commands/${name}.js`, ...args);
  await command('merchants', 'create', '--name', 'Corner Café', '--id', merchantId);
  await command('merchants', 'limit', merchantId, '--requests', '100000');
  const mount = `${resolve(program)}:/program.json:ro`;
  const apply = 'dist/stack/commands/programs.js';
  await containers.runWith(mount, 'api', 'node', apply, 'apply', '/program.json', '--merchant', merchantId);
  const made = await command('keys', 'create', '--merchant', merchantId, '--name', 'shop', '--role', 'owner');
  return made.split('\n')[0] ?? '';
}

type Call = (path: string, options?: { method?: string; body?: unknown; key?: string }) => Promise<Answer>;
interface Answer {
  status: number;
  body: unknown;
}

/** The answer about a member, also to the enrollment. */
const aboutMember = z.object({ data: z.object({ id: z.string(), balance: z.number() }) });

function callerOf({ address, ca }: Rehearsal, apiKey: string): Call {
  const dispatcher = new Agent({ connect: { ca } });
  return async (path, { method = 'GET', body, key } = {}) => {
    const answer = await fetch(`${address}/api/v1${path}`, {
      method,
      headers: {
        'X-API-Key': apiKey,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(key !== undefined && { 'Idempotency-Key': key }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
      dispatcher,
    });
    const text = await answer.text();
    return { status: answer.status, body: parseJson(text) ?? text };
  };
}

/** Each caller changes the points of its own member, and repeats what got no definite answer with the same key. */
async function startLoad(call: Call): Promise<Load> {
  const faults: string[] = [];
  const points = new Map<string, number>();
  let running = true;
  const insist = async (path: string, options: { method: string; body: unknown; key: string }): Promise<Answer> => {
    for (;;) {
      const answer = await call(path, options).catch((error: unknown) => ({ status: 0, body: String(error) }));
      if (answer.status !== 0 && answer.status < 500 && answer.status !== 409) return answer;
      if (answer.status !== 409)
        faults.push(`${new Date().toISOString()} ${answer.status} ${JSON.stringify(answer.body).slice(0, 120)}`);
      await sleep(250);
    }
  };
  const runs = Array.from({ length: callers }, async () => {
    const enrolled = await insist('/merchants/me/members', {
      method: 'POST',
      body: { programId: 'bakery-points' },
      key: randomUUID(),
    });
    assert.equal(enrolled.status, 201, JSON.stringify(enrolled.body));
    const memberId = aboutMember.parse(enrolled.body).data.id;
    points.set(memberId, 0);
    while (running) {
      const changed = { method: 'PATCH', body: { delta: 1 }, key: randomUUID() };
      const { status, body } = await insist(`/merchants/me/members/${memberId}/points`, changed);
      assert.equal(status, 200, JSON.stringify(body));
      points.set(memberId, (points.get(memberId) ?? 0) + 1);
      await sleep(50);
    }
  });
  const all = Promise.all(runs);
  all.catch((error: unknown) => faults.push(String(error)));
  return {
    faults,
    stop: async () => {
      running = false;
      await all;
      return points;
    },
  };
}

async function published({ containers }: Rehearsal): Promise<void> {
  const status = () => containers.exec('api', 'node', 'dist/stack/commands/outbox.js', 'status');
  await until(async () => (await status()).includes('the outbox is empty'), {
    withinMs: 120_000,
    everyMs: 1_000,
    seen: status,
  });
}
