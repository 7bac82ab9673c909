// One page of a list and its total. The cost of a page grows with its distance from the start, so a list is read only
// up to row LIST_MAX_ROWS.
import type { Deps } from '../../platform/deps.js';
import { ServiceError } from '../../schemas/shared/errors.js';

interface ReadPage<Row> {
  page: number;
  pageSize: number;
  read: (skip: number) => Promise<Row[]>;
  /** May stop counting at LIST_MAX_ROWS; it then returns undefined. */
  count: () => Promise<number | undefined>;
}

/**
 * `total` is a lower bound when the count was stopped: the rows up to this page, plus one when the page is full. Throws
 * VALIDATION_FAILED for a page beyond LIST_MAX_ROWS when the list has that many rows; in a shorter list such a page is
 * empty.
 */
export async function readPage<Row>(
  { config: { LIST_MAX_ROWS: most } }: Pick<Deps, 'config'>,
  { page, pageSize, read, count }: ReadPage<Row>,
): Promise<{ items: Row[]; total: number }> {
  const skip = (page - 1) * pageSize;
  if (skip < most) {
    const [items, total] = await Promise.all([read(skip), count()]);
    const more = items.length === pageSize ? 1 : 0;
    return { items, total: total ?? skip + items.length + more };
  }
  const total = await count();
  if (total !== undefined && total < most) return { items: [], total };
  throw new ServiceError('VALIDATION_FAILED', [{ path: 'page', message: `begins after the first ${most} items` }]);
}

/** One page of a list that is short by its nature, and was read as a whole. */
export function pageOfRows<Row>(rows: readonly Row[], { page, pageSize }: { page: number; pageSize: number }) {
  const skip = (page - 1) * pageSize;
  return { items: rows.slice(skip, skip + pageSize), page, pageSize, total: rows.length };
}
