// Runs writes in one MongoDB transaction and commits it.
import { type ClientBulkWriteOptions, type ClientSession, MongoError } from 'mongodb';
import type { Deps } from '../deps.js';
import { VersionConflict } from './conflicts.js';
import { isUnavailable } from './isUnavailable.js';
import type { Keyed, Statement, Transaction } from './transaction.js';

const commitRetryMs = 1_000;

/**
 * Commits a transaction. Throws VersionConflict, and writes nothing, when fewer than `expectedMatches` documents match.
 */
export async function commitVerified(
  deps: Pick<Deps, 'mongo' | 'crashPoint'>,
  { statements, expectedMatches }: Transaction,
): Promise<void> {
  await commit(deps, statements, (matched) => {
    if (matched < expectedMatches) throw new VersionConflict('A document changed since it was read.');
    deps.crashPoint('before-commit');
  });
}

export async function commit(
  deps: Pick<Deps, 'mongo'>,
  statements: Statement[],
  beforeCommit: (matched: number) => void,
): Promise<void> {
  await inTransaction(deps, async (session) => beforeCommit(await writeAll(deps, statements, { session })));
}

/** Returns how many documents the update statements matched or inserted (upserts). */
export async function writeAll(
  deps: Pick<Deps, 'mongo'>,
  statements: Statement[],
  options: ClientBulkWriteOptions = {},
): Promise<number> {
  // biome-ignore lint/plugin: the one place of bulk writes; only those in a transaction hold a deleteMany
  const written = await deps.mongo.bulkWrite<Record<string, Keyed>>(statements, { ...options, ordered: true });
  return written.matchedCount + written.upsertedCount;
}

/**
 * Runs `work` in a transaction: everything that it writes with the session is committed, or nothing is. `work` is not
 * retried here. A conflict means that the data changed after the caller read it, so the caller must read again and
 * start a new transaction; a session in which an attempt failed is not reused.
 */
export async function inTransaction(
  deps: Pick<Deps, 'mongo'>,
  work: (session: ClientSession) => Promise<void>,
): Promise<void> {
  const session = deps.mongo.startSession();
  session.startTransaction();
  try {
    await work(session);
    await commitWithRetry(session);
  } catch (error) {
    const ended = session.endSession().catch(() => {});
    // The server ends the open transaction itself, so this process need not wait for an unavailable server.
    if (isUnavailable(error)) throw error;
    await ended;
    throw error;
  }
  await session.endSession();
}

/**
 * Repeats a commit whose result is unknown, for up to 1 s. This is safe: the transaction is committed once, and every
 * repetition gets the same answer. The limit bridges a short loss of the connection, not an outage.
 */
async function commitWithRetry(session: ClientSession): Promise<void> {
  const until = performance.now() + commitRetryMs;
  for (;;) {
    try {
      return await session.commitTransaction();
    } catch (error) {
      const unknown = error instanceof MongoError && error.hasErrorLabel('UnknownTransactionCommitResult');
      if (!unknown || performance.now() > until) throw error;
    }
  }
}
