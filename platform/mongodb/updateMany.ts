// The only functions that change or remove many rows with one statement. They run the statement inside a transaction,
// where a conflict fails at once and is retried. Outside of a transaction, the embedded engine retries such a statement
// forever while it holds the lock of the collection, so that every later write to the collection hangs
// (docs/embedded-engine.md).
import type { ClientSession, Collection, Filter, UpdateFilter } from 'mongodb';
import type { CollectionName, CollectionRows } from '../../schemas/tables/collections.js';
import type { Deps } from '../deps.js';
import { defaultChunkSize, toChunks } from '../toChunks.js';
import { inTransaction } from './inTransaction.js';
import { retryOnWriteConflict } from './retryOnConflict.js';

type Name = CollectionName;

/**
 * Runs `statement` in its own transaction and retries it after a conflict. Throws UNAVAILABLE when the conflicts do not
 * end in time.
 */
async function inOwnTransaction(deps: Deps, statement: (session: ClientSession) => Promise<number>): Promise<number> {
  let rows = 0;
  await retryOnWriteConflict(deps, () =>
    inTransaction(deps, async (session) => {
      rows = await statement(session);
    }),
  );
  return rows;
}

// Narrows the type to one collection, because no method can be called on the union of all collection types.
const collectionOf = <N extends Name>(deps: Deps, name: N): Collection<CollectionRows[N]> => deps.collections[name];

function updateMany<N extends Name>(
  deps: Deps,
  name: N,
  { where, change }: { where: Filter<CollectionRows[N]>; change: UpdateFilter<CollectionRows[N]> },
): Promise<number> {
  return inOwnTransaction(deps, async (session) => {
    // biome-ignore lint/plugin: inside a transaction
    const { matchedCount } = await collectionOf(deps, name).updateMany(where, change, { session });
    return matchedCount;
  });
}

function deleteMany<N extends Name>(deps: Deps, name: N, where: Filter<CollectionRows[N]>): Promise<number> {
  return inOwnTransaction(deps, async (session) => {
    // biome-ignore lint/plugin: inside a transaction
    const { deletedCount } = await collectionOf(deps, name).deleteMany(where, { session });
    return deletedCount;
  });
}

/** With `_id` as the first field: the embedded engine uses the first field of a filter that has an index. */
const among = <N extends Name>(
  ids: readonly string[],
  where: Filter<CollectionRows[N]> = {},
): Filter<CollectionRows[N]> => Object.assign({ _id: {} }, where, { _id: { $in: [...ids] } });

/**
 * Changes the rows with these ids that match `where`, in one transaction for each chunk. Returns how many rows matched.
 */
export async function updateByIds<N extends Name>(
  deps: Deps,
  name: N,
  {
    ids,
    where,
    change,
  }: { ids: readonly string[]; where?: Filter<CollectionRows[N]>; change: UpdateFilter<CollectionRows[N]> },
): Promise<number> {
  let matched = 0;
  for (const some of toChunks(ids)) matched += await updateMany(deps, name, { where: among(some, where), change });
  return matched;
}

/**
 * Calls `work` with the ids of rows that match `where` until no row matches. Each call of `work` must change or remove
 * its rows so that they no longer match.
 */
async function forEachBatch<N extends Name>(
  deps: Deps,
  name: N,
  { where, work }: { where: Filter<CollectionRows[N]>; work: (ids: string[]) => Promise<number> },
): Promise<number> {
  for (let done = 0; ; ) {
    const found = await collectionOf(deps, name)
      .find(where, { projection: { _id: 1 } })
      .limit(defaultChunkSize)
      .toArray();
    if (found.length === 0) return done;
    done += await work(found.map(({ _id }) => String(_id)));
  }
}

/**
 * Changes every row that matches `where`, in batches. The changed rows must no longer match `where`, otherwise the call
 * never returns. Returns how many rows were changed.
 */
export function updateAll<N extends Name>(
  deps: Deps,
  name: N,
  { where, change }: { where: Filter<CollectionRows[N]>; change: UpdateFilter<CollectionRows[N]> },
): Promise<number> {
  return forEachBatch(deps, name, { where, work: (ids) => updateByIds(deps, name, { ids, where, change }) });
}

/** Removes every row that matches `where`, in batches. Returns how many rows were removed. */
export function removeAll<N extends Name>(deps: Deps, name: N, where: Filter<CollectionRows[N]>): Promise<number> {
  return forEachBatch(deps, name, { where, work: (ids) => deleteMany(deps, name, among(ids)) });
}
