// Group commit: small transactions that are requested at the same time share one commit. Either all of them are
// committed or none.
import { createBatcher } from '../batcher.js';
import type { Deps } from '../deps.js';
import { isRetryable } from './conflicts.js';
import { commitVerified } from './inTransaction.js';
import type { GroupCommit, Transaction } from './transaction.js';

/**
 * A transaction with more statements is bulk work and is committed alone, so that single changes need not wait for it.
 */
const maxGroupedStatements = 40;

/**
 * One commit at a time: transactions that arrive during a commit form the next group, and groups of this process cannot
 * conflict with each other. The embedded engine takes some 10 ms for each statement on a saturated machine, and the
 * caller's statements end after 2.2 s, so a group is small.
 */
const groupCommitOptions = { batchSize: 16, concurrency: 1, maxWaitMs: 2_000 };

export function createGroupCommit(deps: Pick<Deps, 'mongo' | 'crashPoint'>): GroupCommit {
  return createBatcher(async (group: Transaction[]) => {
    const combined: Transaction = {
      statements: group.flatMap((one) => one.statements),
      updates: group.reduce((sum, one) => sum + one.updates, 0),
    };
    try {
      await commitVerified(deps, combined);
      return group.map(() => true);
    } catch (error) {
      if (group.length === 1 || !isRetryable(error)) throw error;
      return group.map(() => false);
    }
  }, groupCommitOptions);
}

/**
 * A shared commit only returns the sum of the matched documents. The sum proves that each update matched only if every
 * `updateOne` of the transaction must match exactly one document; so the number of `updateOne` statements must equal
 * `updates`.
 */
export const isGroupable = ({ statements, updates }: Transaction): boolean =>
  statements.length <= maxGroupedStatements && statements.filter(({ name }) => name === 'updateOne').length === updates;
