// The connection to MongoDB: majority and journaled writes, short selection so that an outage is a quick 503, and one typed
// map of collections.
import { writeFileSync } from 'node:fs';
import { MongoClient } from 'mongodb';
import type { Logger } from 'pino';
import type { CollectionName, Rows } from '../schemas/collections.js';
import type { Config } from '../schemas/config.js';
import { createCountMembers } from './countMembers.js';
import type { CrashPoint, Store, Tables, WalletModes } from './deps.js';
import './endedConnections.js';
import { createKnownDepths } from './knownDepths.js';
import { createMetrics, type Metrics } from './metrics/metrics.js';
import { readTogether } from './readTogether.js';
import { createRecent } from './recent.js';
import { noTracing, type Tracing } from './tracing.js';
import { createShareCommit } from './transact.js';
import { createTurns } from './turns.js';

interface Patience {
  /** How often MongoDB is asked whether it is there. */
  heartbeatFrequencyMS: number;
  /** How long it may say nothing. */
  connectTimeoutMS: number;
  /** How long whoever asks waits for one that is there. */
  serverSelectionTimeoutMS: number;
}

// MongoDB that says nothing is noticed after the first two together, which ends what waits for it; a second try waits the
// third. In sum that stays below the 3 s within which callers must hear of an outage. A machine that is merely busy is silent
// too, so most of the time goes there.
const patiences = {
  caller: { heartbeatFrequencyMS: 500, connectTimeoutMS: 1_300, serverSelectionTimeoutMS: 600 },
  worker: { heartbeatFrequencyMS: 2_000, connectTimeoutMS: 1_300, serverSelectionTimeoutMS: 600 },
  tool: { heartbeatFrequencyMS: 60_000, connectTimeoutMS: 10_000, serverSelectionTimeoutMS: 5_000 },
} satisfies Record<string, Patience>;
const connectAgainMs = 200;

/**
 * `CRASH_AT=name` dies at that point every time; `CRASH_AT=name@file` once, and leaves the file as the mark. Several points
 * stand behind each other with commas between them.
 */
function crashPointOf(setting: string | undefined): (name: CrashPoint) => void {
  if (!setting) return () => {};
  const marks = new Map(
    setting.split(',').map((point) => {
      const [name = '', mark] = point.split('@');
      return [name, mark] as const;
    }),
  );
  return (name) => {
    if (!marks.has(name)) return;
    const mark = marks.get(name);
    if (mark !== undefined && !leaveMark(mark)) return;
    process.kill(process.pid, 'SIGKILL');
  };
}

/** False when the mark was there already. */
function leaveMark(mark: string): boolean {
  try {
    writeFileSync(mark, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

export interface OpenStore extends Store {
  close: () => Promise<void>;
}

export interface StoreOptions {
  config: Config;
  log: Logger;
  metrics?: Metrics;
  tracing?: Tracing;
  walletModes?: WalletModes;
  now?: () => Date;
  /** Who waits for MongoDB: a caller wants to hear soon that it is away, and a tool would rather wait. */
  patience?: keyof typeof patiences;
}

const stubModes: WalletModes = { apple: 'stub', google: 'stub' };

/**
 * The driver comes back from any outage but the first: a client whose first connection failed fails whatever is asked of it
 * from then on, unless it is told to connect anew. Answers what ends that.
 */
function connectAgain(mongo: MongoClient, log: Logger): () => void {
  let ended = false;
  mongo.on('topologyClosed', () => {
    if (ended) return;
    log.warn('MongoDB is away; trying again');
    setTimeout(() => ended || mongo.connect().catch(() => {}), connectAgainMs).unref();
  });
  return () => {
    ended = true;
  };
}

/** Connects lazily: a store can be opened while MongoDB is away. What is asked of it then fails, and not what is asked later. */
export function openStore({
  config,
  log,
  metrics = createMetrics(),
  tracing = noTracing,
  walletModes = stubModes,
  now = () => new Date(),
  patience = 'caller',
}: StoreOptions): OpenStore {
  const mongo = new MongoClient(config.MONGODB_URI, {
    writeConcern: { w: 'majority', journal: true },
    ...patiences[patience],
    // Not both at once: a stream beside which the driver measures by asking anyway.
    serverMonitoringMode: 'poll',
    socketTimeoutMS: 30_000,
    // A connection that cannot be made is told at once.
    maxAdaptiveRetries: 0,
    maxPoolSize: 64,
    retryWrites: true,
    ignoreUndefined: true,
    appName: 'loyalty-pass-service',
  });
  const database = mongo.db(config.MONGODB_DATABASE);
  const table = <N extends CollectionName>(name: N) => database.collection<Rows[N]>(name);
  const rows: Tables = {
    merchants: table('merchants'),
    programs: table('programs'),
    members: table('members'),
    emails: table('emails'),
    memberTokens: table('memberTokens'),
    counters: table('counters'),
    slowdowns: table('slowdowns'),
    tags: table('tags'),
    transactions: table('transactions'),
    gestures: table('gestures'),
    events: table('events'),
    deliveries: table('deliveries'),
    subscriptions: table('subscriptions'),
    timeline: table('timeline'),
    devices: table('devices'),
    deviceLogs: table('deviceLogs'),
    apiKeys: table('apiKeys'),
    roles: table('roles'),
    batches: table('batches'),
    batchRows: table('batchRows'),
    batchTargets: table('batchTargets'),
    nonces: table('nonces'),
  };
  const crashPoint = crashPointOf(config.CRASH_AT);
  const endConnecting = connectAgain(mongo, log);
  return {
    mongo,
    rows,
    shareCommit: createShareCommit({ mongo, crashPoint }),
    countMembers: createCountMembers({ mongo, rows, log }),
    read: {
      member: readTogether(rows.members, ['_id', 'merchantId']),
      gesture: readTogether(rows.gestures, ['_id', 'merchantId']),
      apiKey: readTogether(rows.apiKeys, ['hash']),
      email: readTogether(rows.emails, ['_id', 'merchantId']),
      program: readTogether(rows.programs, ['_id', 'merchantId']),
    },
    config,
    log,
    metrics,
    tracing,
    now,
    inTurn: createTurns(),
    recent: createRecent(),
    knownDepths: createKnownDepths(),
    walletModes,
    crashPoint,
    async close() {
      endConnecting();
      await mongo.close();
    },
  };
}
