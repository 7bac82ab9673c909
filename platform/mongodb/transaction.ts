// Types of the writes of one transaction.
import type { AnyClientBulkWriteModel, Document } from 'mongodb';

export type Keyed = Document & { _id: string };

export type Statement = AnyClientBulkWriteModel<Keyed>;

export interface Transaction {
  statements: Statement[];
  updates: number;
}

/** Returns false when the shared commit failed with a conflict; then nothing of the transaction was written. */
export type GroupCommit = (transaction: Transaction) => Promise<boolean>;
