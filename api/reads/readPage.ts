// One page of a list and its total. A page costs what lies before it, so a list is read only to its row LIST_MAX_ROWS.
import type { Deps } from '../../platform/deps.js';
import { ServiceError } from '../../schemas/errors.js';

interface ReadPage<Row> {
  page: number;
  pageSize: number;
  read: (skip: number) => Promise<Row[]>;
  /** May stop counting at LIST_MAX_ROWS, and returns undefined when it gives up. */
  count: () => Promise<number | undefined>;
}

/**
 * `total` is a lower bound when the count gave up: the rows up to this page, and one more when the page is full. Throws
 * VALIDATION_FAILED for a page after LIST_MAX_ROWS of a list that has as many rows; of a shorter list it is empty.
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
