// Rows changed by their ids, piece by piece.
import type { Collection, Document, Filter, UpdateFilter } from 'mongodb';
import { pieces } from './pieces.js';

/** Answers how many of them were as `where` says. */
export async function updateByIds<R extends Document & { _id: string }>(
  collection: Collection<R>,
  { ids, where = {}, change }: { ids: readonly string[]; where?: Filter<R>; change: UpdateFilter<R> },
): Promise<number> {
  let matched = 0;
  for (const some of pieces(ids)) {
    const updated = await collection.updateMany({ ...where, _id: { $in: some } } as Filter<R>, change);
    matched += updated.matchedCount;
  }
  return matched;
}
