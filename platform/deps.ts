// The dependencies that every effect needs. They are passed as the first argument and never kept in a module variable.
import type { Collection, MongoClient } from 'mongodb';
import type { Logger } from 'pino';
import type { Config } from '../schemas/shared/config.schema.js';
import type { WalletModes } from '../schemas/shared/passUpdate.schema.js';
import type { CollectionName, CollectionRows } from '../schemas/tables/collections.js';
import type { CrashPoint } from './crashPoint.js';
import type { Metrics } from './metrics/metrics.js';
import type { PageBounds } from './mongodb/embeddedEngine.js';
import type { GroupCommit, PendingAudit } from './mongodb/transaction.js';
import type { ShortLivedCache } from './shortLivedCache.js';
import type { CountRows } from './totals.js';
import type { Tracing } from './tracing.js';

export type Collections = { [N in CollectionName]: Collection<CollectionRows[N]> };

export interface Deps {
  mongo: MongoClient;
  collections: Collections;
  config: Config;
  log: Logger;
  metrics: Metrics;
  tracing: Tracing;
  now: () => Date;
  /** The clock of leases where it is not `now`: for the demo's history, whose `now` is in the past (stack/cafe). */
  leaseNow?: () => Date;
  /** How long, in milliseconds, a change is retried after conflicts with other writes. */
  retryForMs: number;
  /** Keyed mutex: runs the work on one key one after another within this process. */
  runExclusive: <T>(key: string, work: () => Promise<T>) => Promise<T>;
  /** Counts the rows of a list; keeps what was costly to count. */
  countRows: CountRows;
  /** Caches the result of `load` for one second. For programs and roles, which change rarely. */
  cached: ShortLivedCache;
  /** Commits a small transaction together with concurrent small transactions. */
  groupCommit: GroupCommit;
  /** Adds new members to the totals of a merchant and a program. Concurrent calls share one write. */
  countMembers: CountMembers;
  /** The audit entry that the change of a request or command writes. */
  audit?: readonly PendingAudit[];
  /** Reads single rows. Concurrent calls share one query. */
  read: {
    member: (at: { _id: string; merchantId: string }) => Promise<CollectionRows['members'] | null>;
    idempotencyKey: (at: { _id: string; merchantId: string }) => Promise<CollectionRows['idempotencyKeys'] | null>;
    apiKey: (at: { hash: string }) => Promise<CollectionRows['apiKeys'] | null>;
    email: (at: { _id: string; merchantId: string }) => Promise<CollectionRows['emails'] | null>;
    spentCode: (at: { _id: string }) => Promise<CollectionRows['spentCodes'] | null>;
    program: (at: { _id: string; merchantId: string }) => Promise<CollectionRows['programs'] | null>;
    ledger: (at: { _id: string; memberId: string; merchantId: string }) => Promise<CollectionRows['ledger'] | null>;
  };
  /** Known bounds of pages of lists that show the newest rows first; undefined on a real MongoDB. */
  pageBounds: PageBounds | undefined;
  /** Wallet modes that follow from the credentials alone, before the program and the member are considered. */
  walletModes: WalletModes;
  /** Kills the process when a crash test has set CRASH_AT to this name; does nothing otherwise. */
  crashPoint: (name: CrashPoint) => void;
}

export interface NewMembers {
  merchantId: string;
  programId: string;
  created: number;
}

export type CountMembers = (of: NewMembers) => Promise<void>;
