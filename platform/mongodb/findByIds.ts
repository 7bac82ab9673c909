// Reads a merchant's rows by their ids. The query filters by id alone and the merchant is compared afterwards: with the
// merchant in the filter some engines read all rows of the merchant (30 ms instead of 2 ms with 2,000 members).
import type { Collection, Document, Filter, WithId } from 'mongodb';

/** Returns the rows that exist and belong to the merchant, in no particular order. */
export async function findByIds<R extends Document & { _id: string; merchantId: string }>(
  collection: Collection<R>,
  { ids, merchantId }: { ids: readonly string[]; merchantId: string },
): Promise<WithId<R>[]> {
  if (ids.length === 0) return [];
  const rows = await collection.find({ _id: { $in: [...ids] } } as Filter<R>).toArray();
  return rows.filter((row) => row.merchantId === merchantId);
}
