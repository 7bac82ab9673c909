// One page of a list that shows the newest first. Some engines sort all that a filter finds before they skip, so the filter
// finds no more than it must.
import type { Collection, Filter, WithId } from 'mongodb';
import type { Store } from './deps.js';

interface Listed {
  _id: string;
  createdAt: Date;
}

interface NewestPage {
  where: Filter<Listed>;
  page: number;
  pageSize: number;
}

export async function newestPage<Row extends Listed>(
  { knownDepths }: Pick<Store, 'knownDepths'>,
  rows: Collection<Row>,
  { where, page, pageSize }: NewestPage,
): Promise<WithId<Row>[]> {
  const list = `${rows.collectionName} ${JSON.stringify(where)}`;
  const depth = page * pageSize;
  const read = (since: Date | undefined) =>
    rows
      .find({ ...where, ...(since && { createdAt: { $gte: since } }) } as Filter<Row>)
      .sort({ createdAt: -1, _id: -1 })
      .skip(depth - pageSize)
      .limit(pageSize)
      .toArray();
  const since = knownDepths.since(list, depth);
  const bounded = await read(since);
  const items = since && bounded.length < pageSize ? await read(undefined) : bounded;
  const last = items[pageSize - 1];
  if (last) knownDepths.note(list, depth, last.createdAt);
  return items;
}
