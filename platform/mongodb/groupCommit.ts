// Group commit: concurrent small transactions share one commit. Either all of them are committed or none
// (docs/decisions/many-writes-share-a-commit.md).
import { createBatcher } from '../batcher.js';
import type { Deps } from '../deps.js';
import { isRetryable } from './conflicts.js';
import { commitVerified } from './inTransaction.js';
import type { GroupCommit, Transaction } from './transaction.js';

/**
 * The largest group, in statements. A transaction with more of them is bulk work and is committed alone, so that single
 * changes need not wait for it.
 */
const maxGroupedStatements = 40;
const minGroupedStatements = 8;
/** A group that takes longer is too large for the current load: a statement of a caller times out after 2.2 s. */
const slowMs = 400;

/** The size of the next group after one of `size` took `tookMs`: half or twice as many statements. */
export const nextGroupSize = (size: number, tookMs: number): number =>
  tookMs > slowMs ? Math.max(size / 2, minGroupedStatements) : Math.min(size * 2, maxGroupedStatements);

/** Transactions that arrive during two commits form the next group. */
const groupCommitOptions = { concurrency: 2, maxWaitMs: 2_000 };

export function createGroupCommit(deps: Pick<Deps, 'mongo' | 'crashPoint'>): GroupCommit {
  let size = maxGroupedStatements;
  return createBatcher(
    async (group: Transaction[]) => {
      const startedAt = performance.now();
      const combined: Transaction = {
        statements: group.flatMap((one) => one.statements),
        expectedMatches: group.reduce((sum, one) => sum + one.expectedMatches, 0),
      };
      try {
        await commitVerified(deps, combined);
        return group.map(() => true);
      } catch (error) {
        if (group.length === 1 || !isRetryable(error)) throw error;
        return group.map(() => false);
      } finally {
        size = nextGroupSize(size, performance.now() - startedAt);
      }
    },
    {
      ...groupCommitOptions,
      batchSize: () => size,
      sizeOf: ({ statements }) => statements.length,
    },
  );
}

/**
 * A shared commit only returns the sum of the matched documents. The sum proves that each update matched only if every
 * `updateOne` of the transaction must match exactly one document; so the number of `updateOne` statements must equal
 * `expectedMatches`.
 */
export const isGroupable = ({ statements, expectedMatches }: Transaction): boolean =>
  statements.length <= maxGroupedStatements &&
  statements.filter(({ name }) => name === 'updateOne').length === expectedMatches;
