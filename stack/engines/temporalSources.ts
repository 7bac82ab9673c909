// Lists where to get a Temporal dev server from when the user gave no address: an installed one, a cached one, a
// download, a build.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { type CachedFile, intoCache } from './cache.js';
import { fetchBody, fetchJson } from './download.js';
import { type Context, cachedSource, type Engine, obtain, type Source } from './obtain.js';
import { findOnPath, installed, versionOf } from './onPath.js';
import { runTool } from './tool.js';

const builtVersion = '1.5.1';
// Fairness between the keys of a task queue needs server 1.29.
const oldestServer = '1.29.0';
const serverVersion = /Server v?([\d.]+)/;

export interface TemporalSearch {
  cacheDir: string;
  env: NodeJS.ProcessEnv;
  /** The server that is asked for the download; by default the vendor's. */
  downloadOrigin?: string;
}

export async function obtainTemporal(search: TemporalSearch, context: Context): Promise<Engine> {
  return await obtain(
    {
      title: 'Temporal server',
      givenBy: 'TEMPORAL_ADDRESS',
      sources: temporalSources(search),
      advice: [
        'install the Temporal CLI (https://docs.temporal.io/cli), so that temporal is on the PATH',
        'install Go 1.25 or newer (https://go.dev/dl) and start again: the CLI is then built once, in about 3 minutes',
        'give the address of a server: TEMPORAL_ADDRESS=host:7233 npm start',
      ],
    },
    context,
  );
}

function temporalSources({
  cacheDir,
  env,
  downloadOrigin = 'https://temporal.download',
}: TemporalSearch): Source<string>[] {
  const sdk = z
    .object({ version: z.string() })
    .parse(createRequire(import.meta.url)('@temporalio/client/package.json'));
  const fetched: CachedFile = { cacheDir, folder: `temporal-for-sdk-${sdk.version}`, program: 'temporal' };
  const built: CachedFile = { cacheDir, folder: `temporal-${builtVersion}`, program: 'temporal' };
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
    cachedSource('CLI fetched earlier', fetched, cached),
    cachedSource('CLI built earlier', built, cached),
    {
      tried: 'download of the Temporal CLI',
      kind: 'temporal',
      get: async (context) =>
        await engine(await fetchTemporal(fetched, downloadOrigin, sdk.version, context), 'downloaded'),
    },
    {
      tried: `build of the CLI ${builtVersion} with go`,
      kind: 'temporal',
      get: async (context) => await engine(await buildTemporal(built, env, context), 'built'),
    },
  ];
}

const downloadSchema = z.object({ archiveUrl: z.url(), fileToExtract: z.string() });

// Downloads from the same address as the SDK's test environment. The SDK's own download is not used, because it needs
// the SDK's native module in this process, starts a server at once, shows no progress and has no timeout.
async function fetchTemporal(file: CachedFile, origin: string, sdkVersion: string, context: Context): Promise<string> {
  context.task.say('asking for the download of the Temporal CLI');
  const query = new URLSearchParams({
    platform: process.platform,
    arch: process.arch === 'x64' ? 'amd64' : process.arch,
    format: 'tar.gz',
    'sdk-name': 'sdk-typescript',
    'sdk-version': sdkVersion,
  });
  const found = downloadSchema.parse(await fetchJson(`${origin}/cli/default?${query}`));
  return await intoCache(file, context, async (folder) => {
    const unpack = async (blocks: AsyncIterable<Uint8Array>, total: number | undefined) => {
      const tar = spawn('tar', ['-xz', '-C', folder, '-f', '-', found.fileToExtract], {
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      const ended = once(tar, 'close');
      await pipeline(Readable.from(counted(blocks, total, context)), tar.stdin);
      const [code] = await ended;
      if (code !== 0) throw new Error(`${found.archiveUrl} could not be unpacked`);
    };
    await fetchBody(found.archiveUrl, unpack, context.signal);
  });
}

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

async function buildTemporal(file: CachedFile, env: NodeJS.ProcessEnv, context: Context): Promise<string> {
  const go = findOnPath('go', env);
  if (go === undefined) throw new Error('go is not on the PATH');
  return await intoCache(file, context, async (folder) => {
    const doing = 'building the Temporal CLI with go, once, about 3 min';
    context.task.say(doing);
    let modules = 0;
    let packages = 0;
    await runTool({
      command: go,
      args: ['install', '-v', `github.com/temporalio/cli/cmd/temporal@v${builtVersion}`],
      env: { ...env, GOBIN: folder },
      logFile: join(file.cacheDir, 'logs', 'build-temporal.log'),
      signal: context.signal,
      onLine: (line) => {
        if (line.startsWith('go: downloading')) modules += 1;
        else packages += 1;
        context.task.say(
          `${doing}: ${packages === 0 ? `${modules} modules fetched` : `${packages} packages compiled`}`,
        );
      },
    });
  });
}
