// Reads a merchant's rows by their ids.
import type { Collection, Filter, WithId } from 'mongodb';
import type { CollectionName, CollectionRows } from '../../schemas/tables/collections.js';
import type { Deps } from '../deps.js';

interface Owned {
  _id: string;
  merchantId: string;
}
/** The collections whose rows each belong to one merchant. */
type OwnedName = { [N in CollectionName]: CollectionRows[N] extends Owned ? N : never }[CollectionName];

/** Returns the rows that exist and belong to the merchant, in no particular order. */
export async function findByIds<N extends OwnedName>(
  { collections, config }: Pick<Deps, 'collections' | 'config'>,
  name: N,
  { ids, merchantId }: { ids: readonly string[]; merchantId: string },
): Promise<WithId<CollectionRows[N]>[]> {
  if (ids.length === 0) return [];
  // The compiler does not see that the collection of a name has the rows of that name.
  const rows = collections[name] as unknown as Collection<Owned>;
  const byId: Filter<Owned> = { _id: { $in: [...ids] } };
  // Next to a merchant the embedded engine would read all rows of the merchant (docs/embedded-engine.md).
  const found = await rows.find(config.MONGODB_EMBEDDED ? byId : { ...byId, merchantId }).toArray();
  return found.filter((row) => row.merchantId === merchantId) as unknown as WithId<CollectionRows[N]>[];
}
