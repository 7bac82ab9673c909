// Types of the writes of one transaction.
import type { AnyClientBulkWriteModel, Document } from 'mongodb';
import type { AuditRow } from '../../schemas/access/access.rows.js';
import type { CollectionName } from '../../schemas/tables/collections.js';

export type Keyed = Document & { _id: string };

export type Statement = AnyClientBulkWriteModel<Keyed>;

export interface Transaction {
  statements: Statement[];
  /** The number of documents that the updates must match. */
  expectedMatches: number;
}

/** Returns false when the shared commit failed with a conflict; then nothing of the transaction was written. */
export type GroupCommit = (transaction: Transaction) => Promise<boolean>;

/** The audit entry of a change (audit.ts). */
export interface PendingAudit {
  /** By default the id of the row that is written. */
  row: Omit<AuditRow, 'targetId'> & { targetId?: string };
  /**
   * Written with the first transaction that writes to one of these collections; without a list, with the first
   * transaction.
   */
  writes: readonly CollectionName[];
  isWritten?: true;
}
