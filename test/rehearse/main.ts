// `npm run rehearse`: builds the image by the Dockerfile and runs the compose file with podman, with two APIs, two
// workers and the sample of nginx in front, and goes through what operators do. Exits with 77 where it cannot.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parse } from 'yaml';
import { cacheDirOf } from '../../stack/engines/cache.js';
import { obtainMongodb } from '../../stack/engines/mongodbSources.js';
import { obtainTemporal } from '../../stack/engines/temporalSources.js';
import { findPort } from '../../stack/ports.js';
import { readOptions } from '../../stack/readOptions.js';
import { couldNotRun } from '../long/parts.js';
import { fromPypi } from '../rig/start/fromPypi.js';
import { isInstalled, proxyOf } from '../rig/start/proxies.js';
import { type ComposeFile, changes, rehearsed, withoutDigests } from './composeFile.js';
import { containersOf } from './containers.js';
import { examineImage } from './examineImage.js';
import { commitBefore, imageOf, makeImages, temporalOf, use } from './images.js';
import { play } from './play.js';
import { startStandIns } from './standIns.js';

readOptions(
  `Usage: npm run rehearse

Builds the images and runs the compose file with podman for a quarter of an hour. Needs root and
Debian's packages podman, buildah, runc, netavark, iptables, debootstrap and nginx, and Go and Python.
REHEARSE_TEMPORAL_UPGRADE=false leaves out the upgrade of Temporal, whose version before Go builds for
ten minutes.`,
  {},
);

const upgradesTemporal = process.env.REHEARSE_TEMPORAL_UPGRADE !== 'false';
const root = join(import.meta.dirname, '..', '..');
const host = '127.0.0.1';
const diskMb = 400;
const needed = ['podman', 'buildah', 'runc', 'iptables', 'debootstrap', 'go', 'python3'];
const say = (line: string) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`);

function give(reason: string): never {
  console.log(reason);
  process.exit(couldNotRun);
}

const places = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'];
const lacking = needed.filter((name) => !places.some((place) => existsSync(join(place, name))));
if (!isInstalled('nginx')) lacking.push('nginx');
if (lacking.length > 0) give(`Not installed here: ${lacking.join(', ')} (Debian's packages; netavark too).`);
if (process.getuid?.() !== 0) give('Containers with networks of their own need root here.');
const compose = await fromPypi('podman-compose', '1.6.0');
if (compose.reason !== undefined) give(compose.reason);

const signal = new AbortController().signal;
const context = { task: { say }, signal };
const search = { cacheDir: cacheDirOf(process.env), env: process.env };
const mongodb = await obtainMongodb(search, context);
const temporal = await obtainTemporal(search, context);
if (mongodb.kind !== 'secantusd') give('The rehearsal runs the embedded engine, and a downloaded mongod is here.');

const original = await readFile(join(root, 'docker-compose.yml'), 'utf8');
const { services } = parse(original, { merge: true }) as ComposeFile;
const nameOf = (name: string): string => withoutDigests(services[name]?.image ?? '');
const before = await commitBefore(root);
await makeImages(
  {
    root,
    temporalVersions: upgradesTemporal ? ['now', 'before'] : ['now'],
    before,
    named: {
      ...{ mongodb: nameOf('mongodb'), postgres: nameOf('postgres'), redis: nameOf('redis') },
      temporal: nameOf('temporal'),
    },
    programs: { mongodb: mongodb.path, temporal: temporal.path },
  },
  (what) => say(`image: ${what}`),
);

const name = `rehearsal-${process.pid}`;
/** What ends what was begun, the last first. */
const undo: (() => Promise<unknown>)[] = [];
let ending: Promise<void> | undefined;
/** Once, also when a signal comes while it ends. */
const end = (): Promise<void> => {
  ending ??= (async () => {
    for (const each of undo.toReversed()) await each().catch(console.error);
  })();
  return ending;
};
for (const asked of ['SIGINT', 'SIGTERM'] as const) process.once(asked, () => end().finally(() => process.exit(1)));
const logs = join(tmpdir(), `${name}-logs`);
let keepLogs = async (): Promise<void> => {};
let failed = false;
try {
  const folder = await mkdtemp(join(tmpdir(), 'loyalty-pass-rehearsal-'));
  undo.push(() => rm(folder, { recursive: true, force: true }));
  const inFolder = (each: string) => join(folder, each);
  const folders = {
    ...{ postgres: inFolder('postgres'), clocks: inFolder('clocks') },
    ...{ backups: inFolder('backups'), secrets: inFolder('.secrets') },
  };
  for (const each of Object.values(folders)) await mkdir(each);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskMb}m`, 'tmpfs', folders.postgres]);
  undo.push(async () => execFileSync('umount', [folders.postgres]));
  // As docs/operating.md says: the user of the containers writes into it.
  await chown(folders.backups, 1000, 1000);
  await cp(join(root, 'test/crash/rig/movableClock.mjs'), join(folders.clocks, 'movableClock.mjs'));

  const ports = {
    apis: [await findPort(host), await findPort(host)] as const,
    mongodb: await findPort(host),
    temporal: await findPort(host),
  };
  const proxy = await proxyOf(
    'nginx',
    ports.apis.map((port) => `${host}:${port}`),
  );
  undo.push(proxy.stop);

  const settingsOfPodman = join(folder, 'containers.conf');
  await writeFile(
    settingsOfPodman,
    '[engine]\nruntime = "runc"\n[containers]\ndefault_ulimits = ["nofile=10000:20000", "nproc=9000:9000"]\n',
  );
  process.env.CONTAINERS_CONF = settingsOfPodman;
  await examineImage(imageOf('now'), say);

  const standIns = await startStandIns(`${name}_default`, `${name}_keeper`);
  undo.push(standIns.stop);
  const { settings } = standIns.apple.certificates;
  const asFiles = {
    apple_signer_cert: settings.APPLE_SIGNER_CERT,
    apple_signer_key: settings.APPLE_SIGNER_KEY,
    apple_wwdr_cert: settings.APPLE_WWDR_CERT,
    mongodb_uri: 'mongodb://mongodb:27017/?directConnection=true',
  };
  const made = changes({ ports, folders, env: standIns.env });
  for (const { what } of made) say(`changed: ${what}`);
  const file = join(folder, 'docker-compose.yml');
  const { text, rules } = rehearsed(original, { name, made });
  await writeFile(file, text);
  await cp(join(root, 'stack'), join(folder, 'stack'), { recursive: true });
  execFileSync('sh', ['stack/compose/makeSecrets.sh'], { cwd: folder, stdio: 'ignore' });
  for (const [secret, value = ''] of Object.entries(asFiles)) {
    await chmod(join(folders.secrets, secret), 0o644);
    await writeFile(join(folders.secrets, secret), value);
  }
  const env = {
    ...process.env,
    PATH: places.join(delimiter),
    PUBLIC_URL: proxy.address,
    TRUST_PROXY: '1',
    APPLE_PASS_TYPE_ID: settings.APPLE_PASS_TYPE_ID,
    APPLE_TEAM_ID: settings.APPLE_TEAM_ID,
  };
  const containers = containersOf({ bin: join(compose.bin, 'podman-compose'), file, name, rules, env });
  undo.push(containers.down);
  keepLogs = () => containers.keepLogs(logs);
  await play({
    containers,
    proxy,
    ports,
    folders,
    standIns,
    before,
    upgradesTemporal,
    say,
    use: async (version) => use(imageOf(version), `localhost/${nameOf('api')}`),
    takeTemporal: async (version) => {
      const { server, tools } = temporalOf(version, nameOf('temporal'));
      await use(server, `docker.io/${nameOf('temporal')}`);
      await use(tools, `docker.io/${nameOf('temporal-schema')}`);
    },
  });
} catch (error) {
  failed = true;
  console.error(error);
  await keepLogs().then(() => say(`what the containers printed is in ${logs}`), console.error);
} finally {
  await end();
}
const passed = before === undefined ? 'the rehearsal passed, without an upgrade' : 'the rehearsal passed';
say(failed ? 'the rehearsal failed' : passed);
process.exit(failed ? 1 : 0);
