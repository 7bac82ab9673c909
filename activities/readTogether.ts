// Single rows by what names them. Callers that ask at the same moment are answered by one query, which was sent after each of
// them asked: nobody gets a row that is older than the question.
import type { Collection, Document, Filter, WithId } from 'mongodb';
import { gather } from './gather.js';

const groups = { max: 64, atOnce: 2, patienceMs: 2_000 };

/** `fields` name a row together; there is at most one for each combination. Callers must not change what they are given. */
export function readTogether<R extends Document, F extends keyof R & string>(
  collection: Collection<R>,
  fields: readonly F[],
): (at: Pick<R, F>) => Promise<WithId<R> | null> {
  const nameOf = (at: Pick<R, F>): string => JSON.stringify(fields.map((field) => at[field]));
  return gather(async (wanted: Pick<R, F>[]) => {
    const [only] = wanted;
    if (wanted.length === 1 && only) return [await collection.findOne({ ...only } as Filter<R>)];
    const anyOf = fields.map((field) => [field, { $in: [...new Set(wanted.map((at) => at[field]))] }]);
    const rows = await collection.find(Object.fromEntries(anyOf) as Filter<R>).toArray();
    const named = new Map(rows.map((row) => [nameOf(row as unknown as Pick<R, F>), row]));
    return wanted.map((at) => named.get(nameOf(at)) ?? null);
  }, groups);
}
