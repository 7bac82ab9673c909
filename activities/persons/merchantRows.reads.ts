// All rows of a merchant, collection by collection in the order of their ids, for its export and its removal. Both are
// rare, so they have no index: each collection is read once from beginning to end.
import type { Document, Filter } from 'mongodb';
import type { Deps } from '../../platform/deps.js';
import { personalData } from '../../schemas/persons/personalData.schema.js';
import { type CollectionName, type CollectionRows, collectionNames } from '../../schemas/tables/collections.js';

const pageSize = 100;

/** Collections whose rows have a `merchantId`. */
export const merchantCollections: readonly CollectionName[] = collectionNames.filter(
  (name) => !personalData[name].ofNobody,
);

/** Pages of rows after the id `after`. */
export async function* merchantRows<N extends CollectionName>(
  deps: Deps,
  {
    name,
    merchantId,
    after = '',
    projection = {},
  }: { name: N; merchantId: string; after?: string; projection?: Document },
): AsyncGenerator<CollectionRows[N][]> {
  const rows = deps.collections[name as 'timeline'];
  for (let last = after; ; ) {
    // With `_id` as the first field: the embedded engine uses the first field of a filter that has an index.
    const where = name === 'merchants' ? { _id: { $gt: last, $eq: merchantId } } : { _id: { $gt: last }, merchantId };
    const page = await rows
      .find(where as Filter<CollectionRows['timeline']>, { projection })
      .sort({ _id: 1 })
      .limit(pageSize)
      .toArray();
    const end = page.at(-1);
    if (!end) return;
    last = end._id;
    yield page as unknown as CollectionRows[N][];
  }
}
