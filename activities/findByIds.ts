// A merchant's rows by their ids. The database is asked by id alone: with the merchant in the filter some engines go through
// all that the merchant has, 30 ms instead of 2 among 2,000 members.
import type { Collection, Document, Filter, WithId } from 'mongodb';

/** Those that are there and the merchant's own, in no order. */
export async function findByIds<R extends Document & { _id: string; merchantId: string }>(
  collection: Collection<R>,
  { ids, merchantId }: { ids: readonly string[]; merchantId: string },
): Promise<WithId<R>[]> {
  const rows = await collection.find({ _id: { $in: [...ids] } } as Filter<R>).toArray();
  return rows.filter((row) => row.merchantId === merchantId);
}
