// Creates the dependencies of a process: the connection to MongoDB, the typed collections and the helpers built on
// them. Writes are acknowledged by a majority and journaled. Server selection is short, so that callers get a 503 soon
// after MongoDB becomes unavailable.
import { MongoClient } from 'mongodb';
import type { Logger } from 'pino';
import type { Config } from '../schemas/shared/config.schema.js';
import type { WalletModes } from '../schemas/shared/passUpdate.schema.js';
import { collectionNames } from '../schemas/tables/collections.js';
import type { Collections, Deps } from './deps.js';
import { createCountMembers } from './mongodb/memberCounters.js';
import { within } from './within.js';
import './mongodb/driverPatch.js';
import { createCrashPoint } from './crashPoint.js';
import { createKeyedMutex } from './keyedMutex.js';
import { createMetrics, type Metrics } from './metrics/metrics.js';
import { batchedRead } from './mongodb/batchedRead.js';
import { databaseClock } from './mongodb/databaseClock.js';
import { createPageBounds } from './mongodb/embeddedEngine.js';
import { createGroupCommit } from './mongodb/groupCommit.js';
import { createShortLivedCache } from './shortLivedCache.js';
import { createTotals } from './totals.js';
import { noTracing, type Tracing } from './tracing.js';

interface ConnectionTimeouts {
  /** Interval between two heartbeats to a MongoDB server. */
  heartbeatFrequencyMS: number;
  /** After this long without an answer a heartbeat or a connection attempt fails. */
  connectTimeoutMS: number;
  /** How long an operation waits for a server that is available. */
  serverSelectionTimeoutMS: number;
  /** How long one statement may take while the server still answers heartbeats. */
  socketTimeoutMS: number;
}

// For API processes (`caller`) an outage must lead to a 503 within 3 s. A server that answers nothing is detected after
// heartbeatFrequencyMS + connectTimeoutMS (1.8 s), which ends all waiting operations. The driver's second try waits
// serverSelectionTimeoutMS (0.6 s): 2.4 s in total. connectTimeoutMS is the largest part, because a busy machine is
// also slow to answer heartbeats. When only one statement hangs, socketTimeoutMS ends it, and it is not sent again
// (driverPatch.ts).
const connectionTimeouts = {
  caller: {
    heartbeatFrequencyMS: 500,
    connectTimeoutMS: 1_300,
    serverSelectionTimeoutMS: 600,
    socketTimeoutMS: 2_200,
  },
  worker: {
    heartbeatFrequencyMS: 2_000,
    connectTimeoutMS: 1_300,
    serverSelectionTimeoutMS: 600,
    socketTimeoutMS: 10_000,
  },
  tool: {
    heartbeatFrequencyMS: 60_000,
    connectTimeoutMS: 10_000,
    serverSelectionTimeoutMS: 5_000,
    socketTimeoutMS: 30_000,
  },
} satisfies Record<string, ConnectionTimeouts>;
/**
 * How long a change is retried after conflicts with other changes. Callers of the API must get their answer within 3 s
 * here too.
 */
const retryForMs: Record<keyof typeof connectionTimeouts, number> = { caller: 2_200, worker: 8_000, tool: 8_000 };
const reconnectMs = 200;
const goodbyeMs = 2_000;

export interface ClosableDeps extends Deps {
  close: () => Promise<void>;
}

export interface DepsOptions {
  config: Config;
  log: Logger;
  metrics?: Metrics;
  tracing?: Tracing;
  walletModes?: WalletModes;
  /** Replaces the clock; by default times follow the database's. */
  now?: () => Date;
  /** The clock of this machine, in milliseconds since 1970. */
  ownNow?: () => number;
  /**
   * Which timeouts apply to MongoDB: `caller` for a process whose callers need a quick 503, `worker` for a worker,
   * `tool` for a command that prefers to wait.
   */
  timeouts?: keyof typeof connectionTimeouts;
}

const stubModes: WalletModes = { apple: 'stub', google: 'stub' };

/**
 * The driver reconnects after every outage except the first: when a client's first connection attempt fails, all its
 * operations fail until `connect` is called again. This function calls `connect` every 200 ms until it succeeds.
 * Returns a function that stops the attempts.
 */
function reconnect(mongo: MongoClient, log: Logger): () => void {
  let ended = false;
  mongo.on('topologyClosed', () => {
    if (ended) return;
    log.warn('MongoDB is unavailable; trying again');
    setTimeout(() => ended || mongo.connect().catch(() => {}), reconnectMs).unref();
  });
  return () => {
    ended = true;
  };
}

/**
 * Connects lazily: the call succeeds while MongoDB is unavailable. Operations fail until MongoDB answers, and succeed
 * afterwards.
 */
export function createDeps({
  config,
  log,
  metrics = createMetrics(),
  tracing = noTracing,
  walletModes = stubModes,
  now,
  ownNow = Date.now,
  timeouts = 'caller',
}: DepsOptions): ClosableDeps {
  const mongo = new MongoClient(config.MONGODB_URI, {
    writeConcern: { w: 'majority', journal: true },
    ...connectionTimeouts[timeouts],
    // In its streaming mode the driver polls as well, to measure round-trip times; polling alone is enough.
    serverMonitoringMode: 'poll',
    // The driver takes a failed connection attempt for an overloaded server and retries it; with 0 the attempt fails at
    // once.
    maxAdaptiveRetries: 0,
    maxPoolSize: 64,
    retryWrites: true,
    ignoreUndefined: true,
    appName: 'loyalty-pass-service',
  });
  const database = mongo.db(config.MONGODB_DATABASE);
  // The compiler cannot check that each name has the collection of its rows.
  const collections: Collections = Object.fromEntries(
    collectionNames.map((name): unknown[] => [name, database.collection(name)]),
  );
  const crashPoint = createCrashPoint(config.CRASH_AT);
  const stopReconnecting = reconnect(mongo, log);
  return {
    mongo,
    collections,
    retryForMs: retryForMs[timeouts],
    groupCommit: createGroupCommit({ mongo, crashPoint }),
    countMembers: createCountMembers({ mongo, collections, log, retryForMs: retryForMs[timeouts] }),
    read: {
      member: batchedRead(collections.members, ['_id', 'merchantId'], config),
      idempotencyKey: batchedRead(collections.idempotencyKeys, ['_id', 'merchantId'], config),
      apiKey: batchedRead(collections.apiKeys, ['hash'], config),
      email: batchedRead(collections.emails, ['_id', 'merchantId'], config),
      spentCode: batchedRead(collections.spentCodes, ['_id'], config),
      program: batchedRead(collections.programs, ['_id', 'merchantId'], config),
      ledger: batchedRead(collections.ledger, ['_id', 'memberId', 'merchantId'], config),
    },
    config,
    log,
    metrics,
    tracing,
    now: now ?? databaseClock(mongo, ownNow),
    runExclusive: createKeyedMutex(),
    countRows: createTotals(config),
    cached: createShortLivedCache(),
    pageBounds: config.MONGODB_EMBEDDED ? createPageBounds() : undefined,
    walletModes,
    crashPoint,
    async close() {
      stopReconnecting();
      // `mongo.close()` may wait for ever for a server that hangs, so it is given 2 s.
      await within(mongo.close(), { ms: goodbyeMs, fallback: undefined });
    },
  };
}
