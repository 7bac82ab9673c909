// Commits one change in one transaction (guarantee 1 of docs/architecture.md). The statements are sent as one bulk
// write. When an update matches no document, or the id of an insert exists already, the transaction fails and nothing
// is written. Concurrent transactions share one commit; when the shared commit fails with a conflict, each transaction
// is tried alone.
import type { Deps } from '../deps.js';
import { toChunks } from '../toChunks.js';
import { auditOf } from './audit.js';
import { isGroupable } from './groupCommit.js';
import { commit, commitVerified, writeAll } from './inTransaction.js';
import { type RetryDeps, retryOnWriteConflict } from './retryOnConflict.js';
import type { Statement, Transaction } from './transaction.js';

/**
 * Writes all statements or none, with the audit of the request. `expectedMatches` is the number of documents that the
 * update statements must match; throws VersionConflict when they match fewer.
 */
export async function transact(deps: Deps, statements: Statement[], expectedMatches: number): Promise<void> {
  await withAudit(deps, { statements, expectedMatches }, async (transaction) => {
    const done = isGroupable(transaction) && (await deps.groupCommit(transaction));
    if (!done) await commitVerified(deps, transaction);
  });
}

/** Like `transact`, but with its own commit: for large rows, so that small changes need not wait for them. */
export async function transactAlone(deps: Deps, statements: Statement[], expectedMatches: number): Promise<void> {
  await withAudit(deps, { statements, expectedMatches }, (transaction) => commitVerified(deps, transaction));
}

async function withAudit(
  deps: Deps,
  { statements, expectedMatches }: Transaction,
  write: (transaction: Transaction) => Promise<void>,
): Promise<void> {
  const audit = auditOf(deps, statements);
  await write({ statements: [...statements, ...audit.statements], expectedMatches });
  audit.written();
  deps.crashPoint('after-commit');
}

/**
 * Writes many statements with one commit for each chunk, because each commit waits for the disk. Chunks are committed
 * independently: an error leaves earlier chunks written. Returns how many documents the update statements matched.
 */
export async function writeBulk(deps: RetryDeps & Pick<Deps, 'mongo'>, statements: Statement[]): Promise<number> {
  let matchedTotal = 0;
  for (const chunk of toChunks(statements)) {
    let matchedInChunk = 0;
    const write = async () => {
      // A single statement that writes one document is atomic without a transaction.
      if (chunk.length === 1 && !chunk[0]?.name.endsWith('Many')) matchedInChunk = await writeAll(deps, chunk);
      else
        await commit(deps, chunk, (matched) => {
          matchedInChunk = matched;
        });
    };
    await retryOnWriteConflict(deps, write);
    matchedTotal += matchedInChunk;
  }
  return matchedTotal;
}
