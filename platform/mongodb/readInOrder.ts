// Reads many rows in the order of an index, page by page. No cursor stays open between two pages, so the reader may
// pause for any time, and can continue from any position, also in another process.
import type { Collection, Document, Filter } from 'mongodb';
import type { Position } from '../../schemas/batches/batches.rows.js';

const pageSize = 500;

export interface ReadInOrder<T> {
  /** Equality conditions. */
  where: Filter<T>;
  /** A date field; ties are sorted by id. The index must contain the fields of `where`, this field and `_id`. */
  by: string;
  direction: 1 | -1;
  /** Rows up to this position are skipped. */
  after: Position | undefined;
  projection: Document;
}

/** Yields pages of 1 to 500 rows, with the position of their last row. */
export async function* readInOrder<T extends Document & { _id: string }>(
  collection: Collection<T>,
  { where, by, direction, after, projection }: ReadInOrder<T>,
): AsyncGenerator<{ rows: T[]; end: Position }> {
  const sort = { [by]: direction, _id: direction } as const;
  const beyond = direction === 1 ? '$gt' : '$lt';
  const page = (more: Document) =>
    collection
      .find({ ...where, ...more } as Filter<T>, { projection: { ...projection, [by]: 1 } })
      .sort(sort)
      .limit(pageSize)
      .toArray() as Promise<T[]>;
  for (let last = after; ; ) {
    // Two queries instead of `$or`, for which the embedded engine would read every row of the merchant.
    const ties = last ? await page({ [by]: last.at, _id: { [beyond]: last.id } }) : [];
    const rows = ties.length > 0 ? ties : await page(last ? { [by]: { [beyond]: last.at } } : {});
    const end = rows.at(-1);
    if (!end) return;
    last = { at: end[by], id: end._id };
    yield { rows, end: last };
  }
}
