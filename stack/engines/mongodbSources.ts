// Lists where to get a MongoDB from when the user gave no address: an installed one, a cached one, a download, a build.
// Only the engine that wrote a data folder can read it, so the kind of engine whose data this stack holds is tried
// first.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CachedFile, intoCache } from './cache.js';
import { assertReachable } from './download.js';
import { type Context, cachedSource, type Engine, obtain, type Source } from './obtain.js';
import { findOnPath, installed } from './onPath.js';
import { runTool } from './tool.js';

export type MongodbKind = 'mongod' | 'secantusd';

const mongodVersion = '8.2.6';
// The driver supports servers from 4.2, transactions that create collections need 4.4, and 6.0 is the oldest version
// that is tested.
const oldestMongod = '6.0.0';
const secantusVersion = '0.5.3-beta.196';

export interface MongodbSearch {
  cacheDir: string;
  env: NodeJS.ProcessEnv;
  /** The kind of engine whose data this stack already holds. */
  kept?: MongodbKind | undefined;
}

export async function obtainMongodb(search: MongodbSearch, context: Context): Promise<Engine<MongodbKind>> {
  const sources = mongodbSources(search);
  const first = sources.filter((source) => source.kind === search.kept);
  const others = sources.filter((source) => source.kind !== search.kept);
  return await obtain(
    {
      title: 'MongoDB',
      givenBy: 'MONGODB_URI',
      sources: search.kept === undefined ? sources : [...first, ...others],
      advice: [
        `install MongoDB ${oldestMongod.split('.')[0]} or newer, so that mongod is on the PATH`,
        'install Rust (https://rustup.rs) and start again: SecantusDB is then built once, in 3 to 8 minutes on two cores',
        'give the address of a replica set: MONGODB_URI=mongodb://... npm start',
      ],
    },
    context,
  );
}

function mongodbSources({ cacheDir, env }: MongodbSearch): Source<MongodbKind>[] {
  const fetched: CachedFile = { cacheDir, folder: `mongod-${mongodVersion}`, program: join('bin', 'mongod') };
  const built: CachedFile = {
    cacheDir,
    folder: `secantus-mdb-${secantusVersion}`,
    program: join('bin', 'secantusd-rs'),
  };
  const mongod = (path: string, version: string, from: string): Engine<MongodbKind> => ({
    kind: 'mongod',
    path,
    version,
    said: `mongod ${version}, ${from}`,
  });
  const secantusd = (path: string, from: string): Engine<MongodbKind> => ({
    kind: 'secantusd',
    path,
    version: secantusVersion,
    said: `SecantusDB ${secantusVersion}, ${from}`,
  });
  return [
    {
      tried: 'mongod on the PATH',
      kind: 'mongod',
      get: async () => {
        const found = await installed('mongod', { env, version: /db version v?([\d.]+)/, least: oldestMongod });
        return found && mongod(found.path, found.version, 'from the PATH');
      },
    },
    cachedSource('mongod fetched earlier', fetched, {
      kind: 'mongod',
      engine: (path) => mongod(path, mongodVersion, 'from the cache'),
    }),
    cachedSource('SecantusDB built earlier', built, {
      kind: 'secantusd',
      engine: (path) => secantusd(path, 'from the cache'),
    }),
    {
      tried: `download of mongod ${mongodVersion}`,
      kind: 'mongod',
      get: async (context) => mongod(await fetchMongod(fetched, env, context), mongodVersion, 'downloaded'),
    },
    {
      tried: `build of SecantusDB ${secantusVersion} with cargo`,
      kind: 'secantusd',
      get: async (context) => secantusd(await buildSecantus(built, env, context), 'built'),
    },
  ];
}

async function fetchMongod(file: CachedFile, env: NodeJS.ProcessEnv, context: Context): Promise<string> {
  context.task.say('asking for the download of mongod');
  await assertReachable(env.MONGOMS_DOWNLOAD_MIRROR ?? 'https://fastdl.mongodb.org');
  return await intoCache(file, context, async (folder) => {
    await runTool({
      command: process.execPath,
      args: ['--import', 'tsx', fileURLToPath(new URL('fetchMongod.ts', import.meta.url)), mongodVersion, folder],
      env,
      logFile: join(file.cacheDir, 'logs', 'fetch-mongod.log'),
      signal: context.signal,
      onLine: (line) => {
        const percent = /([\d.]+)%/.exec(line)?.[1];
        if (percent !== undefined)
          context.task.say(`downloading mongod ${mongodVersion}, ${Math.floor(Number(percent))} %`);
      },
    });
  });
}

async function buildSecantus(file: CachedFile, env: NodeJS.ProcessEnv, context: Context): Promise<string> {
  const cargo = findOnPath('cargo', env);
  if (cargo === undefined) throw new Error('cargo is not on the PATH');
  return await intoCache(file, context, async (folder) => {
    const doing = 'building SecantusDB, 3 to 8 min on two cores';
    context.task.say(doing);
    await runTool({
      command: cargo,
      args: [
        'install',
        '--ignore-rust-version',
        '--locked',
        '--root',
        folder,
        '--version',
        secantusVersion,
        'secantus-mdb',
      ],
      env: {
        ...env,
        // A fifth sooner than with one unit, and as fast at work. Without LTO the build is another twentieth shorter, and
        // a change costs a fifth more processor time.
        CARGO_PROFILE_RELEASE_CODEGEN_UNITS: '16',
        // Cargo prints the number of crates only in its progress bar, and needs a width for the bar when there is no
        // terminal.
        ...{ CARGO_TERM_PROGRESS_WHEN: 'always', CARGO_TERM_PROGRESS_WIDTH: '80', CARGO_TERM_COLOR: 'never' },
      },
      logFile: join(file.cacheDir, 'logs', 'build-secantus-mdb.log'),
      signal: context.signal,
      onLine: (line) => {
        const [, done, all] = /\] (\d+)\/(\d+)/.exec(line) ?? [];
        if (all !== undefined) context.task.say(`${doing}: ${done} of ${all} crates`);
      },
    });
  });
}
