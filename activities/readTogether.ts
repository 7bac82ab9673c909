// Single rows by what names them. Callers that ask at the same moment are answered by one query, which was sent after each of
// them asked: nobody gets a row that is older than the question.
import type { Collection, Document, Filter, WithId } from 'mongodb';
import { gather } from './gather.js';

const groups = { max: 64, atOnce: 2, patienceMs: 2_000 };

/**
 * The first field alone names a row; it is an answer only if the others are so, too. The database is asked for the first one
 * alone, since some engines go through all that the others find. Callers must not change what they are given.
 */
export function readTogether<R extends Document, F extends keyof R & string>(
  collection: Collection<R>,
  [field, ...others]: readonly [F, ...F[]],
): (at: Pick<R, F>) => Promise<WithId<R> | null> {
  return gather(async (wanted: Pick<R, F>[]) => {
    const [only] = wanted;
    if (wanted.length === 1 && only) return [await collection.findOne({ ...only } as Filter<R>)];
    const named = { [field]: { $in: [...new Set(wanted.map((at) => at[field]))] } };
    const rows = await collection.find(named as Filter<R>).toArray();
    const byName = new Map<unknown, WithId<R>>(rows.map((row) => [row[field], row]));
    return wanted.map((at) => {
      const row = byName.get(at[field]);
      return row && others.every((other) => row[other] === at[other]) ? row : null;
    });
  }, groups);
}
