// Types of the writes of one transaction.
import type { AnyClientBulkWriteModel, Document } from 'mongodb';
import type { AuditRow, CollectionName } from '../../schemas/collections.js';

export type Keyed = Document & { _id: string };

export type Statement = AnyClientBulkWriteModel<Keyed>;

export interface Transaction {
  statements: Statement[];
  updates: number;
}

/** Returns false when the shared commit failed with a conflict; then nothing of the transaction was written. */
export type GroupCommit = (transaction: Transaction) => Promise<boolean>;

/** What is to be written to the audit with a change (audit.ts). */
export interface PendingAudit {
  /** Without `targetId` it is the id of the row that is written. */
  row: Omit<AuditRow, 'targetId'> & { targetId?: string };
  /** It is written with the first transaction that writes to one of these collections; none: with the first one. */
  writes: readonly CollectionName[];
  isWritten?: true;
}
