// All MongoDB collections. Queries for a caller ask for the merchant or a business key; work for all merchants asks for
// a shard, slice or due time. The service does not start when a unique index is missing.
import { type AccessCollections, accessIndexes } from '../access/access.rows.js';
import { type BatchCollections, batchIndexes } from '../batches/batches.rows.js';
import { type EventCollections, eventIndexes } from '../events/events.rows.js';
import { type MailCollections, mailIndexes } from '../mail/mail.rows.js';
import { type MemberCollections, memberIndexes } from '../members/members.rows.js';
import { type PersonCollections, personIndexes } from '../persons/persons.rows.js';
import { type PointCollections, pointIndexes } from '../points/points.rows.js';
import { type ProgramCollections, programIndexes } from '../programs/programs.rows.js';
import type { IndexesOf } from '../shared/indexes.js';
import { type ServiceCollections, serviceIndexes } from '../shared/service.rows.js';
import { type StatsCollections, statsIndexes } from '../stats/stats.rows.js';
import { type TillCollections, tillIndexes } from '../till/till.rows.js';
import { type WalletCollections, walletIndexes } from '../wallets/wallets.rows.js';
import { type WebhookCollections, webhookIndexes } from '../webhooks/webhooks.rows.js';

export interface CollectionRows
  extends ProgramCollections,
    MemberCollections,
    PointCollections,
    EventCollections,
    PersonCollections,
    WalletCollections,
    StatsCollections,
    TillCollections,
    WebhookCollections,
    AccessCollections,
    BatchCollections,
    MailCollections,
    ServiceCollections {}

export type CollectionName = keyof CollectionRows;

export const indexes: IndexesOf<CollectionRows> = {
  ...programIndexes,
  ...memberIndexes,
  ...pointIndexes,
  ...eventIndexes,
  ...personIndexes,
  ...walletIndexes,
  ...statsIndexes,
  ...tillIndexes,
  ...webhookIndexes,
  ...accessIndexes,
  ...batchIndexes,
  ...mailIndexes,
  ...serviceIndexes,
};

/**
 * The collections that changes, imports, publishing and deliveries write to. The service is down while one of them
 * accepts no writes.
 */
export const hotCollections = [
  'members',
  'emails',
  'externalIds',
  'memberSearchWords',
  'counters',
  'ledger',
  'idempotencyKeys',
  'events',
  'stats',
  'deliveries',
  'waitingSubscriptions',
  'timeline',
  'devices',
  'batches',
  'importChunks',
  'taps',
] as const satisfies readonly CollectionName[];

export const collectionNames = Object.keys(indexes) as CollectionName[];
