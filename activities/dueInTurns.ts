// Finds who has rows that are due, so that work is done in turns: a few rows of each merchant, however many rows one of
// them has (docs/decisions/121-due-rows-by-merchant-in-turns.md). Each merchant costs one seek in an index on (group, due
// time) which holds only rows with a due time.
import type { Collection, Document, Filter } from 'mongodb';

/** The merchants that one call looks at. */
const mostSeeks = 500;

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

export interface Turns {
  /** Groups with due rows, in the order of the index, beginning after `after`, and then from the start again. */
  groups: string[];
  /** Whether these are all. */
  complete: boolean;
}

/** Finds at most `most` groups with rows that are due at `now`. */
export async function groupsDue<Row extends Document>(
  { collection, group, dueAt, dueAtOf, prefix = '' }: DueIn<Row>,
  { now, most, after }: { now: Date; most: number; after?: string | undefined },
): Promise<Turns> {
  const end = prefix === '' ? {} : { $lt: `${prefix}\u{10FFFF}` };
  const groups: string[] = [];
  let last = after;
  let wrapped = after === undefined;
  for (let seeks = 0; seeks < mostSeeks && groups.length < most; seeks += 1) {
    const begin = last === undefined ? { $gte: prefix } : { $gt: last };
    const where = { [group]: { ...begin, ...end }, [dueAt]: { $gt: new Date(0) } } as Filter<Row>;
    const [head] = await collection
      .find(where)
      .sort({ [group]: 1, [dueAt]: 1 })
      .limit(1)
      .toArray();
    const found: string | undefined = head?.[group];
    if (wrapped && (found === undefined || (after !== undefined && found > after))) return { groups, complete: true };
    if (!head || found === undefined) {
      wrapped = true;
      last = undefined;
      continue;
    }
    last = found;
    const due = dueAtOf(head as Row);
    if (due && due <= now) groups.push(found);
  }
  return { groups, complete: false };
}
