// One page of a list, newest first. The embedded engine sorts all rows that a filter matches before it skips, so there
// the filter has a bound on the creation time when one is known (`pageBounds`).
import type { Collection, Filter, WithId } from 'mongodb';
import type { Deps } from '../../platform/deps.js';

interface Listed {
  _id: string;
  createdAt: Date;
}

interface NewestPage {
  where: Filter<Listed> & { createdAt?: { $gte?: Date; $lt?: Date } };
  skip: number;
  pageSize: number;
}

export async function newestPage<Row extends Listed>(
  { pageBounds }: Pick<Deps, 'pageBounds'>,
  rows: Collection<Row>,
  { where, skip, pageSize }: NewestPage,
): Promise<WithId<Row>[]> {
  const list = `${rows.collectionName} ${JSON.stringify(where)}`;
  const depth = skip + pageSize;
  const read = (since: Date | undefined) =>
    rows
      .find({ ...where, ...(since && { createdAt: { ...where.createdAt, $gte: since } }) } as Filter<Row>)
      .sort({ createdAt: -1, _id: -1 })
      .skip(skip)
      .limit(pageSize)
      .toArray();
  const since = pageBounds?.since(list, depth);
  const bounded = await read(since);
  const items = since && bounded.length < pageSize ? await read(undefined) : bounded;
  const last = items[pageSize - 1];
  if (last) pageBounds?.note(list, depth, last.createdAt);
  return items;
}
