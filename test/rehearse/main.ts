// `npm run rehearse`: builds the image by the Dockerfile and runs the compose file with podman, with two APIs, two
// workers and a proxy that ends TLS, and goes through what operators do. Exits with 77 where this machine cannot.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parse } from 'yaml';
import { cacheDirOf } from '../../stack/engines/cache.js';
import { obtainMongodb } from '../../stack/engines/mongodbSources.js';
import { obtainTemporal } from '../../stack/engines/temporalSources.js';
import { findPort } from '../../stack/ports.js';
import { readOptions } from '../../stack/readOptions.js';
import { couldNotRun } from '../long/parts.js';
import { createTestAuthority } from '../rig/standins/certificates.js';
import { fromPypi } from '../rig/start/fromPypi.js';
import { type ComposeFile, changes, rehearsed, withoutDigests } from './composeFile.js';
import { containersOf } from './containers.js';
import { makeImages } from './images.js';
import { play } from './play.js';

readOptions(
  `Usage: npm run rehearse

Builds the images and runs the compose file with podman for about five minutes. Needs root and Debian's packages podman,
buildah, runc, netavark, iptables and debootstrap, and Go and Python.`,
  {},
);

const root = join(import.meta.dirname, '..', '..');
const needed = ['podman', 'buildah', 'runc', 'iptables', 'debootstrap', 'go', 'python3'];
const say = (line: string) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`);

function give(reason: string): never {
  console.log(reason);
  process.exit(couldNotRun);
}

const places = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'];
const lacking = needed.filter((name) => !places.some((place) => existsSync(join(place, name))));
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
const imageOf = (name: string): string => withoutDigests(services[name]?.image ?? '');
await makeImages(
  {
    root,
    named: {
      ...{ mongodb: imageOf('mongodb'), postgres: imageOf('postgres'), redis: imageOf('redis') },
      ...{ temporal: imageOf('temporal'), 'temporal-schema': imageOf('temporal-schema'), api: imageOf('api') },
    },
    programs: { mongodb: mongodb.path, temporal: temporal.path },
  },
  (what) => say(`image: ${what}`),
);

const folder = await mkdtemp(join(tmpdir(), 'loyalty-pass-rehearsal-'));
const port = await findPort('127.0.0.1');
const proxy = { port, folder: join(folder, 'proxy') };
await mkdir(proxy.folder);
const authority = createTestAuthority();
const { cert, key } = authority.issue(['localhost', '127.0.0.1']);
await writeFile(join(proxy.folder, 'site.pem'), `${cert}${key}`);
await cp(join(import.meta.dirname, 'containers/haproxy.cfg'), join(proxy.folder, 'haproxy.cfg'));
const name = `rehearsal-${process.pid}`;
const made = changes({ proxy });
for (const { what } of made) say(`changed: ${what}`);
const file = join(folder, 'docker-compose.yml');
const { text, waits } = rehearsed(original, { name, made });
await writeFile(file, text);
await cp(join(root, 'stack'), join(folder, 'stack'), { recursive: true });
const secrets = join(folder, '.secrets');
execFileSync('sh', ['stack/compose/makeSecrets.sh'], { cwd: folder, stdio: 'ignore' });
await chmod(join(secrets, 'mongodb_uri'), 0o644);
await writeFile(join(secrets, 'mongodb_uri'), 'mongodb://mongodb:27017/?directConnection=true');
const settings = join(folder, 'containers.conf');
await writeFile(
  settings,
  '[engine]\nruntime = "runc"\n[containers]\ndefault_ulimits = ["nofile=10000:20000", "nproc=9000:9000"]\n',
);
const env = {
  ...process.env,
  PATH: places.join(delimiter),
  CONTAINERS_CONF: settings,
  PUBLIC_URL: `https://127.0.0.1:${port}`,
  TRUST_PROXY: '1',
};
const containers = containersOf({ bin: join(compose.bin, 'podman-compose'), file, name, waits, env });
for (const ending of ['SIGINT', 'SIGTERM'] as const)
  process.once(ending, () => containers.down().finally(() => process.exit(1)));
let failed = false;
try {
  await play({ containers, address: `https://127.0.0.1:${port}`, ca: authority.ca, secrets, say });
} catch (error) {
  failed = true;
  console.error(error);
} finally {
  await containers.down();
  await rm(folder, { recursive: true, force: true });
}
say(failed ? 'the rehearsal failed' : 'the rehearsal passed');
process.exit(failed ? 1 : 0);
