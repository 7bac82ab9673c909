// Finds who has rows that are due, so that work is done in turns: a few rows of each merchant, however many rows one of
// them has (docs/decisions/merchants-take-turns.md). Each merchant costs one seek in an index on (group,
// due time) which holds only rows with a due time.
import type { Collection, Document, Filter } from 'mongodb';

export interface DueIn<Row extends Document> {
  collection: Collection<Row>;
  /** The field by whose values rows take turns. */
  group: keyof Row & string;
  /** The field with the due time. */
  dueAt: string;
  dueAtOf: (row: Row) => Date | undefined;
  /** Only groups that begin with this text. */
  prefix?: string;
}

/** The groups with rows that are due at `now`, each once: those behind `after`, then from the first one on. */
export async function* groupsDue<Row extends Document>(
  { collection, group, dueAt, dueAtOf, prefix = '' }: DueIn<Row>,
  { now, after }: { now: Date; after?: string | undefined },
): AsyncGenerator<string> {
  const nameOf = (row: Row): string => row[group];
  const end = prefix === '' ? {} : { $lt: `${prefix}\u{10FFFF}` };
  const next = async (from: string | undefined) => {
    const begin = from === undefined ? { $gte: prefix } : { $gt: from };
    const where = { [group]: { ...begin, ...end }, [dueAt]: { $gt: new Date(0) } } as Filter<Row>;
    const [head] = await collection
      .find(where)
      .sort({ [group]: 1, [dueAt]: 1 })
      .limit(1)
      .toArray();
    return head as Row | undefined;
  };
  for (const [from, to] of after === undefined ? [[]] : [[after], [undefined, after]]) {
    for (let row = await next(from); row && (to === undefined || nameOf(row) <= to); row = await next(nameOf(row))) {
      const due = dueAtOf(row);
      if (due && due <= now) yield nameOf(row);
    }
  }
}
