// What the rehearsal goes through. An upgrade and the way back while the load goes on, going live as docs/going-live.md
// says, the troubles of operation, and at last a backup that is restored after everything is lost.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { faultsOfSite } from '../rig/checks/publicSite.js';
import { services, temporalRoles } from './composeFile.js';
import { type RunningLoad, siteOf, startLoad } from './load.js';
import { mongodbIsUp, type Rehearsal } from './rehearsal.js';
import { loseAndRestore } from './restore.js';
import { troubles } from './troubles.js';

const merchantId = 'corner-cafe';
const program = 'docs/examples/points.json';
export async function play(rehearsal: Rehearsal): Promise<void> {
  const { containers, say, before, folders, ports, proxy, standIns } = rehearsal;
  await rehearsal.takeTemporal(rehearsal.upgradesTemporal ? 'before' : 'now');
  if (before === undefined) say('no upgrade: the history of this clone does not hold the version before');
  await rehearsal.use(before === undefined ? 'now' : 'before');
  say('starting all containers');
  await containers.up();
  for (const service of services) await containers.healthy(service);
  await proxy.start('/readyz');
  say('all are healthy');
  await mongodbIsUp(rehearsal);
  const secret = (name: string) => readFile(join(folders.secrets, name), 'utf8');
  const secrets = { key: await secret('secrets_key'), console: await secret('console_jwt_secret') };
  const site = await siteOf({ ...proxy, ports, secrets });
  try {
    const load = await startLoad(site, standIns, say);
    await sleep(5_000);
    if (before !== undefined) await upgrade(rehearsal, load);
    await hardened(rehearsal);
    assert.deepEqual(await faultsOfSite(proxy), []);
    say('strangers reach nothing inside, and the headers of pages are safe');
    await goLive(rehearsal);
    for (const service of services) {
      await containers.stop(service);
      await containers.podman('start', service);
      await containers.healthy(service);
    }
    noFault(load, 'A rolling restart');
    say('restarted workers and APIs one after the other without a fault');
    if (rehearsal.upgradesTemporal) await upgradeTemporal(rehearsal, load);
    else say('no upgrade of Temporal, as REHEARSE_TEMPORAL_UPGRADE asks');
    await troubles(rehearsal, load);
    for (const what of new Set(load.faults.map((fault) => fault.what))) {
      const calls = load.faults.filter((fault) => fault.what === what).map(({ call }) => call);
      say(`  fault, ${calls.length} times: ${what} (${calls[0]} to ${calls.at(-1)})`);
    }
    await load.end();
    for (const service of services)
      assert.equal((await containers.inspect(service)).State.OOMKilled, false, `${service} has enough memory`);
    say('nothing is lost, doubled or stuck');
    await loseAndRestore(rehearsal, load);
  } finally {
    await site.close();
  }
}

const noFault = ({ faults }: RunningLoad, what: string): void =>
  assert.deepEqual(faults, [], `${what} has no answer of 500 or more.`);

/** To this version, back, and to this version again, as docs/operating.md says. */
async function upgrade(rehearsal: Rehearsal, load: RunningLoad): Promise<void> {
  const { containers, use, say, before } = rehearsal;
  const replaceAll = async (names: readonly string[]): Promise<void> => {
    for (const name of names) {
      await containers.replace(name);
      await sleep(3_000);
    }
  };
  for (const round of [1, 2]) {
    await use('now');
    await containers.runOnce('migrate');
    await replaceAll(services);
    noFault(load, 'An upgrade');
    await load.campaign();
    say(`upgraded from ${before} without a fault`);
    if (round === 2) continue;
    await use('before');
    await replaceAll(services.toReversed());
    noFault(load, 'The way back');
    await load.campaign();
    say(`went back to ${before} without a fault`);
  }
}

/** By one minor version, as docs/operating.md says. Changes go on; campaigns are refused while the frontend is away. */
async function upgradeTemporal({ containers, takeTemporal, say }: Rehearsal, load: RunningLoad): Promise<void> {
  const before = load.faults.length;
  const number = async () => (await load.site.temporal.connection.workflowService.getSystemInfo({})).serverVersion;
  const from = await number();
  await takeTemporal('now');
  await containers.runOnce('temporal-schema');
  for (const role of temporalRoles) await containers.replace(role);
  await load.campaign();
  const to = await number();
  assert.notEqual(to, from);
  say(`upgraded Temporal from ${from} to ${to}; ${load.faults.length - before} faults`);
}

/** Read-only, without capabilities, not as root, and with no secret where `inspect` shows it. */
async function hardened({ containers, folders, say }: Rehearsal): Promise<void> {
  const { secrets } = folders;
  const values = await Promise.all((await readdir(secrets)).map((name) => readFile(join(secrets, name), 'utf8')));
  for (const service of services) {
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

/** The commands of docs/going-live.md. */
async function goLive({ containers, say }: Rehearsal): Promise<void> {
  const command = (name: string, ...args: string[]) =>
    containers.exec('api', 'node', `dist/stack/commands/${name}.js`, ...args);
  await command('merchants', 'create', '--name', 'Corner Café', '--id', merchantId);
  await command('merchants', 'limit', merchantId, '--requests', '100000');
  await containers.runOnce('api', {
    mount: `${resolve(program)}:/program.json:ro`,
    command: ['node', 'dist/stack/commands/programs.js', 'apply', '/program.json', '--merchant', merchantId],
  });
  const made = await command('keys', 'create', '--merchant', merchantId, '--name', 'shop', '--role', 'owner');
  assert.match(made, /^\S+\n/);
  say('went live by the commands of the documentation');
}
