// One gesture, one transaction (design.md, promise 1). The statements go out as one bulk write; a member that changed since
// it was read, or a key that somebody else just took, ends the attempt and nothing of it stays.
import { type AnyClientBulkWriteModel, type Document, MongoClientBulkWriteError, MongoServerError } from 'mongodb';
import type { CollectionName, Rows } from '../schemas/collections.js';
import { ServiceError } from '../schemas/errors.js';
import type { Store } from './deps.js';

type Keyed = Document & { _id: string };
export type Statement = AnyClientBulkWriteModel<Keyed>;

const transactionTimeoutMs = 2_500;
const patienceMs = 8_000;
const statementsTogether = 500;
const duplicateKey = 11_000;
const writeConflict = 112;

export function insert<N extends CollectionName>(store: Store, name: N, row: Rows[N]): Statement {
  return { namespace: store.rows[name].namespace, name: 'insertOne', document: row };
}

export function update<N extends CollectionName>(
  store: Store,
  name: N,
  filter: Document,
  change: Document,
  upsert = false,
): Statement {
  return { namespace: store.rows[name].namespace, name: 'updateOne', filter, update: change, upsert };
}

export function remove<N extends CollectionName>(store: Store, name: N, filter: Document): Statement {
  return { namespace: store.rows[name].namespace, name: 'deleteMany', filter };
}

/** The rows that the attempt was built on are no longer so; read again and decide again. */
export class StaleRead extends Error {
  override readonly name = 'StaleRead';
}

/** True for "a row with that unique key is there already", however the driver wraps it. */
export function isDuplicate(error: unknown): boolean {
  if (error instanceof MongoClientBulkWriteError)
    return [...error.writeErrors.values()].some((entry) => entry.code === duplicateKey);
  return error instanceof MongoServerError && error.code === duplicateKey;
}

function isConflict(error: unknown): boolean {
  if (error instanceof MongoClientBulkWriteError)
    return [...error.writeErrors.values()].some((entry) => entry.code === writeConflict);
  return error instanceof MongoServerError && error.hasErrorLabel('TransientTransactionError');
}

/** All statements or none. `updates` says how many documents its update statements must match; fewer is a StaleRead. */
export async function transact(store: Store, statements: Statement[], updates: number): Promise<void> {
  await commit(store, statements, (matched) => {
    if (matched < updates) throw new StaleRead('A document changed since it was read.');
    store.crashPoint('after-claim');
  });
  store.crashPoint('after-commit');
}

/**
 * Many writes with one commit: each of them alone would wait for the disk. Answers how many documents the update
 * statements matched.
 */
export async function writeTogether(store: Store, statements: Statement[]): Promise<number> {
  let matchedByAll = 0;
  for (let from = 0; from < statements.length; from += statementsTogether) {
    let matchedByThese = 0;
    await commit(store, statements.slice(from, from + statementsTogether), (matched) => {
      matchedByThese = matched;
    });
    matchedByAll += matchedByThese;
  }
  return matchedByAll;
}

async function commit(store: Store, statements: Statement[], beforeCommit: (matched: number) => void): Promise<void> {
  await store.mongo.withSession(async (session) => {
    await session.withTransaction(
      async () => {
        const result = await store.mongo.bulkWrite<Record<string, Keyed>>(statements, { session, ordered: true });
        beforeCommit(result.matchedCount + result.upsertedCount);
      },
      { timeoutMS: transactionTimeoutMs },
    );
  });
}

/**
 * Reads, decides and writes until the world holds still: `attempt` is run again after a StaleRead, a write conflict or a
 * duplicate key, so it must read afresh each time. Throws UNAVAILABLE when it never does.
 */
export async function decideAgain<T>(store: Store, attempt: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (let round = 0; ; round += 1) {
    try {
      return await attempt();
    } catch (error) {
      const again = error instanceof StaleRead || isDuplicate(error) || isConflict(error);
      if (!again) throw error;
      if (performance.now() > deadline || round > 200) {
        store.log.warn({ err: error }, 'gave up on a contended change');
        throw new ServiceError('UNAVAILABLE');
      }
      await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(5 * 2 ** round, 100)));
    }
  }
}
