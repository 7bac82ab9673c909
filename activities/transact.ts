// One gesture, one transaction (design.md, promise 1). The statements go out as one bulk write; a member that changed since
// it was read, or a key that somebody else just took, ends the attempt and nothing of it stays. Transactions that are asked for
// at the same moment share one commit, all of them or none; where one of them cannot be, each is tried alone.
import {
  type AnyClientBulkWriteModel,
  type ClientBulkWriteOptions,
  type ClientSession,
  type Document,
  MongoClientBulkWriteError,
  MongoError,
  MongoNetworkError,
  MongoServerError,
} from 'mongodb';
import type { CollectionName, Rows } from '../schemas/collections.js';
import { ServiceError } from '../schemas/errors.js';
import type { Store } from './deps.js';
import { gather } from './gather.js';
import { isAway } from './isAway.js';
import { pieces } from './pieces.js';

type Keyed = Document & { _id: string };
export type Statement = AnyClientBulkWriteModel<Keyed>;

const patienceMs = 8_000;
const commitPatienceMs = 1_000;
const duplicateKey = 11_000;
const writeConflict = 112;

export function insert<N extends CollectionName>(store: Pick<Store, 'rows'>, name: N, row: Rows[N]): Statement {
  return { namespace: store.rows[name].namespace, name: 'insertOne', document: row };
}

/** Inserts it, or finds what is there under its id and leaves that as it is. */
export function insertUnlessThere<N extends CollectionName>(
  store: Pick<Store, 'rows'>,
  name: N,
  { _id, ...row }: Rows[N] & { _id: string },
): Statement {
  return update(store, name, { _id }, { $setOnInsert: row }, true);
}

export function update<N extends CollectionName>(
  store: Pick<Store, 'rows'>,
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

/** True for "somebody else wrote there just now", however the driver wraps it. */
export function isConflict(error: unknown): boolean {
  if (error instanceof MongoClientBulkWriteError)
    return [...error.writeErrors.values()].some((entry) => entry.code === writeConflict) || isConflict(error.cause);
  return error instanceof MongoServerError && error.hasErrorLabel('TransientTransactionError');
}

/** True for "the connection was closed in the middle of a transaction": the server has dropped it, and may be there again. */
function isCutOff(error: unknown): boolean {
  return error instanceof MongoNetworkError && error.hasErrorLabel('TransientTransactionError');
}

interface Transaction {
  statements: Statement[];
  updates: number;
}

/** False when it could not be committed in company; then nothing of it was written. */
export type ShareCommit = (transaction: Transaction) => Promise<boolean>;

/** More than this is a bulk, and nobody's gesture should wait for it. */
const smallTransaction = 40;
/** One commit after the other: whoever comes meanwhile goes with the next one, and none of this process is in its way. */
const shared = { max: 32, atOnce: 1, patienceMs: 2_000 };

export function createShareCommit(store: Pick<Store, 'mongo' | 'crashPoint'>): ShareCommit {
  return gather(async (group: Transaction[]) => {
    const together: Transaction = {
      statements: group.flatMap((one) => one.statements),
      updates: group.reduce((sum, one) => sum + one.updates, 0),
    };
    try {
      await commitWhole(store, together);
      return group.map(() => true);
    } catch (error) {
      if (group.length === 1 || !mayTryAgain(error)) throw error;
      return group.map(() => false);
    }
  }, shared);
}

/** In company only the sum of the matches is known: it proves each of them only where each is at most one, and none spare. */
const mayShare = ({ statements, updates }: Transaction): boolean =>
  statements.length <= smallTransaction && statements.filter(({ name }) => name === 'updateOne').length === updates;

async function commitWhole(
  store: Pick<Store, 'mongo' | 'crashPoint'>,
  { statements, updates }: Transaction,
): Promise<void> {
  await commit(store, statements, (matched) => {
    if (matched < updates) throw new StaleRead('A document changed since it was read.');
    store.crashPoint('after-claim');
  });
}

/** All statements or none. `updates` says how many documents its update statements must match; fewer is a StaleRead. */
export async function transact(store: Store, statements: Statement[], updates: number): Promise<void> {
  const transaction = { statements, updates };
  const done = mayShare(transaction) && (await store.shareCommit(transaction));
  if (!done) await commitWhole(store, transaction);
  store.crashPoint('after-commit');
}

/**
 * Many writes with one commit: each of them alone would wait for the disk. Answers how many documents the update
 * statements matched.
 */
export async function writeTogether(store: Pick<Store, 'mongo' | 'log'>, statements: Statement[]): Promise<number> {
  let matchedByAll = 0;
  for (const these of pieces(statements)) {
    let matchedByThese = 0;
    const write = async () => {
      // One statement is all or nothing by itself.
      if (these.length === 1) matchedByThese = await writeAll(store, these);
      else
        await commit(store, these, (matched) => {
          matchedByThese = matched;
        });
    };
    await decideAgain(store, write, isConflict);
    matchedByAll += matchedByThese;
  }
  return matchedByAll;
}

async function commit(
  store: Pick<Store, 'mongo'>,
  statements: Statement[],
  beforeCommit: (matched: number) => void,
): Promise<void> {
  await inTransaction(store, async (session) => beforeCommit(await writeAll(store, statements, { session })));
}

/** Answers how many documents the update statements matched or made. */
async function writeAll(
  store: Pick<Store, 'mongo'>,
  statements: Statement[],
  options: ClientBulkWriteOptions = {},
): Promise<number> {
  const written = await store.mongo.bulkWrite<Record<string, Keyed>>(statements, { ...options, ordered: true });
  return written.matchedCount + written.upsertedCount;
}

/**
 * All that `work` writes with the session or nothing. It is never run twice: whatever stood in its way was not there when it
 * was decided, so whoever decided must read again (and a session in which an attempt failed is not trusted with another).
 */
export async function inTransaction(
  store: Pick<Store, 'mongo'>,
  work: (session: ClientSession) => Promise<void>,
): Promise<void> {
  const session = store.mongo.startSession();
  session.startTransaction();
  try {
    await work(session);
    await commitSurely(session);
  } catch (error) {
    const ended = session.endSession().catch(() => {});
    // Nobody waits for the end of what a server that is away has open: it ends that itself.
    if (isAway(error)) throw error;
    await ended;
    throw error;
  }
  await session.endSession();
}

/**
 * A commit whose answer was lost is asked for again: it happens once, and is answered the same. Whoever asks waits for a
 * server that comes back at once, and not for one that is away.
 */
async function commitSurely(session: ClientSession): Promise<void> {
  const until = performance.now() + commitPatienceMs;
  for (;;) {
    try {
      return await session.commitTransaction();
    } catch (error) {
      const unknown = error instanceof MongoError && error.hasErrorLabel('UnknownTransactionCommitResult');
      if (!unknown || performance.now() > until) throw error;
    }
  }
}

const mayTryAgain = (error: unknown): boolean => error instanceof StaleRead || isDuplicate(error) || isConflict(error);

/**
 * Reads, decides and writes until the world holds still: `attempt` is run again after a StaleRead, a write conflict or a
 * duplicate key, so it must read afresh each time. Throws UNAVAILABLE when it never does. Once it is run again after its
 * connection was closed, as the driver does with all that is no transaction: whoever asks waits for no server that is away.
 */
export async function decideAgain<T>(
  store: Pick<Store, 'log'>,
  attempt: () => Promise<T>,
  again: (error: unknown) => boolean = mayTryAgain,
): Promise<T> {
  const deadline = performance.now() + patienceMs;
  let wasCutOff = false;
  for (let round = 0; ; round += 1) {
    try {
      return await attempt();
    } catch (error) {
      const cutOff = isCutOff(error);
      if (cutOff ? wasCutOff : !again(error)) throw error;
      wasCutOff ||= cutOff;
      if (performance.now() > deadline || round > 200) {
        store.log.warn({ err: error }, 'gave up on a contended change');
        throw new ServiceError('UNAVAILABLE');
      }
      await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(5 * 2 ** round, 100)));
    }
  }
}
