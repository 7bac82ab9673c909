// What effects need from outside, handed in as the first argument and never held in a module.

import type { Collection, MongoClient } from 'mongodb';
import type { Logger } from 'pino';
import type { CollectionName, Rows } from '../schemas/collections.js';
import type { Config } from '../schemas/config.js';
import type { WalletMode } from '../schemas/passUpdate.js';
import type { CountMembers } from './countMembers.js';
import type { KnownDepths } from './knownDepths.js';
import type { Metrics } from './metrics/metrics.js';
import type { Tracing } from './tracing.js';
import type { ShareCommit } from './transact.js';

export type Tables = { [N in CollectionName]: Collection<Rows[N]> };

export interface Store {
  mongo: MongoClient;
  rows: Tables;
  config: Config;
  log: Logger;
  metrics: Metrics;
  tracing: Tracing;
  now: () => Date;
  /** Runs one after another whatever this process does to the same key. */
  inTurn: <T>(key: string, work: () => Promise<T>) => Promise<T>;
  /** Answers `load` from memory for a second: programs and roles change by an operator's hand only. */
  recent: <T extends object>(key: string, load: () => Promise<T | null>) => Promise<T | null>;
  /** Commits a small transaction together with whatever else is to be committed just then. */
  shareCommit: ShareCommit;
  /** Raises the totals of a merchant and a program, together with whoever else is counted just then. */
  countMembers: CountMembers;
  /** Single rows; those that are asked for at the same moment come with one query. */
  read: {
    member: (at: { _id: string; merchantId: string }) => Promise<Rows['members'] | null>;
    gesture: (at: { _id: string; merchantId: string }) => Promise<Rows['gestures'] | null>;
    apiKey: (at: { hash: string }) => Promise<Rows['apiKeys'] | null>;
    email: (at: { _id: string; merchantId: string }) => Promise<Rows['emails'] | null>;
    program: (at: { _id: string; merchantId: string }) => Promise<Rows['programs'] | null>;
  };
  /** How far back the newest members of a list go. */
  knownDepths: KnownDepths;
  /** What the wallets' credentials allow, before a program or a member is looked at. */
  walletModes: WalletModes;
  /** Dies here when a crash test asks for it (CRASH_AT); nothing otherwise. */
  crashPoint: (name: CrashPoint) => void;
}

export const crashPoints = [
  'after-claim',
  'after-commit',
  'before-workflow-start',
  'after-workflow-start',
  'after-push-before-record',
  'after-post-before-log',
  'after-log-before-mark',
  'mid-chunk',
  'between-relay-read-and-write',
] as const;
export type CrashPoint = (typeof crashPoints)[number];

export interface WalletModes {
  apple: WalletMode;
  google: WalletMode;
}
