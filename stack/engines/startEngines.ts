// Starts the engines for which the user gave no address. Each engine keeps its port when it is started again.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { prepareNamespace, retentionOf } from '../../platform/temporal/prepareNamespace.js';
import { toError } from '../../platform/toError.js';
import { allOrNone } from '../allOrNone.js';
import { assertPortFree, type ChosenPorts } from '../chosenPorts.js';
import { ExpectedFailure } from '../expectedFailure.js';
import type { Settings } from '../settings.js';
import { replaceFile } from '../stackFile.js';
import type { Supervisor } from '../supervisor.js';
import type { Terminal } from '../terminal.js';
import { cacheDirOf } from './cache.js';
import { assertGivenMongodb, mongodbPlan, mongodbUriAt } from './mongodb.js';
import { type MongodbKind, obtainMongodb } from './mongodbSources.js';
import { temporalPlan } from './temporal.js';
import { obtainTemporal } from './temporalSources.js';

const loopback = '127.0.0.1';

export interface EnginesDeps {
  settings: Settings;
  supervisor: Pick<Supervisor, 'start'>;
  terminal: Terminal;
  signal: AbortSignal;
}

export interface Engines {
  mongodbUri: string;
  /** False as well when the user gave the address. */
  mongodbEmbedded: boolean;
  temporalAddress: string;
  /** Null when the user gave the server's address: the address of its UI is not known then. */
  temporalUi: string | null;
}

export async function startEngines(deps: EnginesDeps, ports: ChosenPorts): Promise<Engines> {
  // An engine that cannot be had also stops the other one's download or build, which may take long.
  const [mongodb, temporal] = await allOrNone(deps.signal, (signal) => [
    startMongodb({ ...deps, signal }, ports.mongodb),
    startTemporal({ ...deps, signal }, ports),
  ]);
  return { ...mongodb, ...temporal };
}

export async function startMongodb({ settings, supervisor, terminal, signal }: EnginesDeps, port: number) {
  const given = settings.given.mongodbUri;
  if (given !== undefined) {
    return await terminal.step('MongoDB', async () => {
      await assertGivenMongodb(given);
      return { result: { mongodbUri: given, mongodbEmbedded: false }, said: 'given by MONGODB_URI' };
    });
  }
  return await terminal.step('MongoDB', async (task) => {
    const folder = join(settings.stackDir, 'mongodb');
    const search = { cacheDir: cacheDirOf(settings.env), env: settings.env, kept: keptKind(folder) };
    const engine = await obtainMongodb(search, { task, signal });
    task.say('starting');
    await assertPortFree('STACK_MONGO_PORT', loopback, port);
    const dataDir = join(folder, engine.kind);
    const { database } = settings;
    await supervisor.start(mongodbPlan({ engine, port, dataDir, env: engineEnv(settings.env), database }));
    const result = { mongodbUri: mongodbUriAt(port), mongodbEmbedded: engine.kind === 'secantusd' };
    return { result, said: `${engine.said}, on port ${port}` };
  });
}

async function startTemporal(deps: EnginesDeps, ports: ChosenPorts) {
  const { settings, supervisor, terminal, signal } = deps;
  const given = settings.given.temporalAddress;
  if (given !== undefined) {
    return await terminal.step('Temporal', async () => {
      const remarks = await prepareGivenTemporal(given, settings.namespace);
      for (const remark of remarks) terminal.warn(remark);
      return { result: { temporalAddress: given, temporalUi: null }, said: 'given by TEMPORAL_ADDRESS' };
    });
  }
  return await terminal.step('Temporal', async (task) => {
    const search = { cacheDir: cacheDirOf(settings.env), env: settings.env };
    const engine = await obtainTemporal(search, { task, signal });
    task.say('starting');
    await assertPortFree('STACK_TEMPORAL_PORT', loopback, ports.temporal);
    await assertPortFree('STACK_TEMPORAL_UI_PORT', loopback, ports.temporalUi);
    const dbFile = join(settings.stackDir, 'temporal.db');
    warnOfOtherVersion(terminal, dbFile, engine.version);
    const plan = temporalPlan({
      engine,
      namespace: settings.namespace,
      port: ports.temporal,
      uiPort: ports.temporalUi,
      dbFile,
      env: engineEnv(settings.env),
      watched: true,
    });
    await supervisor.start(plan);
    const result = {
      temporalAddress: `${loopback}:${ports.temporal}`,
      temporalUi: `http://${loopback}:${ports.temporalUi}`,
    };
    return { result, said: `${engine.said}, on port ${ports.temporal}` };
  });
}

// Warns when another server version wrote the database, because the dev server does not migrate databases.
function warnOfOtherVersion(terminal: Pick<Terminal, 'warn'>, dbFile: string, version: string): void {
  const note = `${dbFile}.version`;
  const made = existsSync(dbFile) && existsSync(note) ? readFileSync(note, 'utf8') : version;
  if (made === version) {
    replaceFile(note, version);
    return;
  }
  terminal.warn(
    `${dbFile} was made by server ${made}, this is ${version}. If Temporal fails with it, move it away: no balance is in it.`,
  );
}

/** The kind of engine whose data this stack already holds. */
function keptKind(folder: string): MongodbKind | undefined {
  const kinds: MongodbKind[] = ['mongod', 'secantusd'];
  return kinds.find((kind) => existsSync(join(folder, kind)));
}

/** The environment for engines, without the service's secrets. */
export function engineEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LC_ALL', 'TZ'];
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

const leastRetentionSeconds = 72 * 3_600;

/** Throws ExpectedFailure when the server does not answer. Returns remarks for the user. */
export async function prepareGivenTemporal(address: string, namespace: string): Promise<string[]> {
  const connection = await connectTo(address);
  try {
    await prepareNamespace(connection, { namespace, signal: AbortSignal.timeout(10_000) });
    const seconds = await retentionOf(connection, namespace);
    if (seconds >= leastRetentionSeconds) return [];
    const hours = Math.floor(seconds / 3_600);
    return [
      `Namespace ${namespace} forgets finished workflows after ${hours} h; 72 h or more lets operators look back.`,
    ];
  } catch (error) {
    throw new ExpectedFailure(
      `Namespace ${namespace} of TEMPORAL_ADDRESS could not be prepared (does it exist, and may this client add search ` +
        `attributes?): ${toError(error).message}`,
    );
  } finally {
    await connection.close();
  }
}

async function connectTo(address: string): Promise<Connection> {
  try {
    const { connectionOptions } = loadClientConnectConfig();
    return await Connection.connect({ ...connectionOptions, address, connectTimeout: '5s' });
  } catch (error) {
    throw new ExpectedFailure(`TEMPORAL_ADDRESS does not answer: ${toError(error).message}`);
  }
}
