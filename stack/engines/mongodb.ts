// Runs MongoDB as a replica set with one member, or the embedded engine, which reports itself as one. Transactions work
// in both, and every commit is on disk before it is acknowledged.
import { mkdirSync } from 'node:fs';
import { MongoClient, MongoServerError } from 'mongodb';
import { unwritableCollections } from '../../platform/mongodb/probeWrites.js';
import { ownTransactionSeconds } from '../../platform/mongodb/readSnapshot.js';
import { toError } from '../../platform/toError.js';
import { ExpectedFailure } from '../expectedFailure.js';
import { accepts } from '../ports.js';
import type { ProcessPlan } from '../supervisedProcess.js';
import { until } from '../until.js';
import { type Watch, watchLimits } from '../watch.js';
import type { MongodbKind } from './mongodbSources.js';
import type { Engine } from './obtain.js';

const host = '127.0.0.1';

export function mongodbUriAt(port: number): string {
  return `mongodb://${host}:${port}/?directConnection=true`;
}

export interface MongodbRun {
  engine: Engine<MongodbKind>;
  port: number;
  dataDir: string;
  env: NodeJS.ProcessEnv;
  /** The database that the service writes to. Without it, writes to the engine are not checked. */
  database?: string | undefined;
}

export function mongodbPlan({ engine, port, dataDir, env, database }: MongodbRun): ProcessPlan {
  mkdirSync(dataDir, { recursive: true });
  return {
    name: 'mongodb',
    title: 'MongoDB',
    command: engine.path,
    args: engine.kind === 'mongod' ? mongodArgs(port, dataDir) : secantusArgs(port, dataDir),
    env,
    ipc: false,
    async ready(_running, signal) {
      await until(() => accepts(host, port), 20, signal);
      if (engine.kind === 'mongod') await becomePrimary(port, signal);
      await until(() => isWritable(mongodbUriAt(port)), 100, signal);
      await limitTransactions(mongodbUriAt(port));
    },
    readyWithinMs: 60_000,
    graceMs: 8_000,
    ...(database !== undefined && { watch: () => watchWrites(mongodbUriAt(port), database) }),
  };
}

function mongodArgs(port: number, dataDir: string): string[] {
  return [...['--replSet', 'loyalty', '--bind_ip', host, '--port', String(port), '--dbpath', dataDir, '--quiet']];
}

function secantusArgs(port: number, dataDir: string): string[] {
  return [
    ...['--host', host, '--port', String(port), '--storage-path', dataDir, '--log-level', 'WARNING'],
    // Without this flag a kill -9 loses acknowledged writes.
    '--sync-on-commit',
    // The engine allocates its log file in full: by default 128 MB, even for an empty store.
    ...['--log-file-max', '32MB', '--cache-size', '2G'],
  ];
}

/** An engine that starts on a busy machine may take its time. */
const whileStarting = { serverSelectionTimeoutMS: 15_000 };

/**
 * Initiates the replica set on a new folder. When the port differs from the last start's, moves the member to the new
 * port.
 */
async function becomePrimary(port: number, signal: AbortSignal): Promise<void> {
  const client = new MongoClient(mongodbUriAt(port), whileStarting);
  const me = `${host}:${port}`;
  try {
    const admin = client.db('admin');
    const configured = await admin.command({ replSetGetConfig: 1 }).catch((error: unknown) => {
      if (error instanceof MongoServerError && error.codeName === 'NotYetInitialized') return undefined;
      throw error;
    });
    if (configured === undefined) {
      await admin.command({ replSetInitiate: { _id: 'loyalty', members: [{ _id: 0, host: me }] } });
    } else if (configured.config.members[0].host !== me) {
      const { config } = configured;
      const moved = { ...config, version: config.version + 1, members: [{ ...config.members[0], host: me }] };
      await admin.command({ replSetReconfig: moved, force: true });
    }
    await until(async () => (await admin.command({ hello: 1 })).isWritablePrimary === true, 50, signal);
  } finally {
    await client.close();
  }
}

/**
 * Limits transactions to 3 s (ownTransactionSeconds) instead of MongoDB's 60 s, so that a transaction of a killed
 * process does not block its members for longer. The server forgets the limit when it ends, so it is set at every start.
 */
async function limitTransactions(uri: string): Promise<void> {
  const client = new MongoClient(uri, whileStarting);
  try {
    await client.db('admin').command({ setParameter: 1, transactionLifetimeLimitSeconds: ownTransactionSeconds });
  } finally {
    await client.close();
  }
}

// Log lines of the embedded engine that mean a restart: one statement retries on write conflicts for 5 s or more and
// keeps its collection locked, or the storage engine has panicked.
const hopeless = /retrying on write conflicts for (?!([0-4])\.)[\d.]+s|WT_PANIC/;

/** Checks that the engine accepts writes to the service's collections. */
function watchWrites(uri: string, database: string): Watch {
  const client = new MongoClient(uri, {
    serverSelectionTimeoutMS: 2_000,
    socketTimeoutMS: watchLimits.withinMs,
    maxPoolSize: 100,
    retryWrites: false,
  });
  return {
    hopeless,
    async probe() {
      const unwritable = await unwritableCollections(client.db(database), watchLimits.withinMs - 500);
      if (unwritable.length > 0) throw new Error(`takes no writes to ${unwritable.join(', ')}`);
    },
    close: () => client.close(true),
  };
}

async function isWritable(uri: string): Promise<boolean> {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 2_000 });
  try {
    return (await client.db('admin').command({ hello: 1 })).isWritablePrimary === true;
  } finally {
    await client.close();
  }
}

/**
 * Checks an address that the user gave. Throws ExpectedFailure when the server does not answer or does not support
 * transactions.
 */
export async function assertGivenMongodb(uri: string): Promise<void> {
  const client = connectTo(uri);
  try {
    const hello = await client.db('admin').command({ hello: 1 });
    if (hello.setName !== undefined || hello.msg === 'isdbgrid') return;
  } catch (error) {
    throw new ExpectedFailure(`MONGODB_URI does not answer: ${toError(error).message}`);
  } finally {
    await client.close();
  }
  throw new ExpectedFailure(
    'MONGODB_URI is a standalone server, and transactions need a replica set (one member is enough: mongod --replSet).',
  );
}

function connectTo(uri: string): MongoClient {
  try {
    return new MongoClient(uri, { serverSelectionTimeoutMS: 5_000, connectTimeoutMS: 5_000 });
  } catch (error) {
    throw new ExpectedFailure(`MONGODB_URI is no connection string: ${toError(error).message}`);
  }
}
