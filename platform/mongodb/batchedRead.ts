// Batched reads of single rows. Concurrent calls share one query, which is sent after all of them were made, so no
// caller gets a row that is older than its call.
import type { Collection, Document, Filter, WithId } from 'mongodb';
import type { Config } from '../../schemas/shared/config.schema.js';
import { createBatcher } from '../batcher.js';

/** No wait limit here: socketTimeoutMS ends a hanging query, and then all calls that wait behind it. */
const batcherOptions = { batchSize: 64, concurrency: 2 };

/**
 * The first field must identify a row. Returns null when another field differs. Callers may share the returned row and
 * must not change it.
 */
export function batchedRead<R extends Document, F extends keyof R & string>(
  collection: Collection<R>,
  [field, ...others]: readonly [F, ...F[]],
  { MONGODB_EMBEDDED: isEmbedded }: Pick<Config, 'MONGODB_EMBEDDED'>,
): (at: Pick<R, F>) => Promise<WithId<R> | null> {
  return createBatcher(async (wanted: Pick<R, F>[]) => {
    const [only] = wanted;
    if (wanted.length === 1 && only) return [await collection.findOne({ ...only } as Filter<R>)];
    // The embedded engine would read every row that the other fields match (docs/embedded-engine.md).
    const asked = isEmbedded ? [field] : [field, ...others];
    const named = Object.fromEntries(asked.map((each) => [each, { $in: [...new Set(wanted.map((at) => at[each]))] }]));
    const rows = await collection.find(named as Filter<R>).toArray();
    const byName = new Map<unknown, WithId<R>>(rows.map((row) => [row[field], row]));
    return wanted.map((at) => {
      const row = byName.get(at[field]);
      return row && others.every((other) => row[other] === at[other]) ? row : null;
    });
  }, batcherOptions);
}
