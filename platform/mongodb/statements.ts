// Builds the statements of a transaction for the driver's bulk write.
import type { Document } from 'mongodb';
import type { CollectionName, CollectionRows } from '../../schemas/tables/collections.js';
import type { Deps } from '../deps.js';
import type { Statement } from './transaction.js';

export function insert<N extends CollectionName>(
  deps: Pick<Deps, 'collections'>,
  name: N,
  row: CollectionRows[N],
): Statement {
  return { namespace: deps.collections[name].namespace, name: 'insertOne', document: row };
}

/** Inserts the row unless a row with its id exists; an existing row is not changed. */
export function insertIfAbsent<N extends CollectionName>(
  deps: Pick<Deps, 'collections'>,
  name: N,
  { _id, ...row }: CollectionRows[N] & { _id: string },
): Statement {
  return update(deps, name, { _id }, { $setOnInsert: row }, true);
}

export function update<N extends CollectionName>(
  deps: Pick<Deps, 'collections'>,
  name: N,
  filter: Document,
  change: Document,
  upsert = false,
): Statement {
  return { namespace: deps.collections[name].namespace, name: 'updateOne', filter, update: change, upsert };
}

/** Changes all rows that match; only for transactions. */
export function updateMany<N extends CollectionName>(
  deps: Pick<Deps, 'collections'>,
  name: N,
  filter: Document,
  change: Document | Document[],
): Statement {
  return { namespace: deps.collections[name].namespace, name: 'updateMany', filter, update: change };
}

export function remove<N extends CollectionName>(deps: Deps, name: N, filter: Document): Statement {
  return { namespace: deps.collections[name].namespace, name: 'deleteMany', filter };
}
