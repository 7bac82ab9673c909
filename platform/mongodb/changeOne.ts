// Changes or removes one row in its own transaction, together with the audit of the request.
import type { Collection, Document, Filter } from 'mongodb';
import type { CollectionName, CollectionRows } from '../../schemas/tables/collections.js';
import type { Deps } from '../deps.js';
import { VersionConflict } from './conflicts.js';
import { retryOnWriteConflict } from './retryOnConflict.js';
import { remove, update } from './statements.js';
import { transact } from './transact.js';

/** Returns whether the row matched. */
export async function changeOne<N extends CollectionName>(
  deps: Deps,
  name: N,
  filter: Document & { _id: string },
  change: Document,
): Promise<boolean> {
  try {
    await retryOnWriteConflict(deps, () => transact(deps, [update(deps, name, filter, change)], 1));
    return true;
  } catch (error) {
    if (error instanceof VersionConflict) return false;
    throw error;
  }
}

/** Returns whether the row existed. */
export async function removeOne<N extends CollectionName>(
  deps: Deps,
  name: N,
  filter: Filter<CollectionRows[N]>,
): Promise<boolean> {
  const rows: Collection<CollectionRows[N]> = deps.collections[name];
  // A removal does not report how many rows it matched; of two concurrent removals, the second may match none.
  if (!(await rows.findOne(filter, { projection: { _id: 1 } }))) return false;
  await retryOnWriteConflict(deps, () => transact(deps, [remove(deps, name, filter)], 0));
  return true;
}
