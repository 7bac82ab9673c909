// Ends uploads that broke off, and removes rows that ended batches no longer need. It runs every few seconds, so the
// leftovers of a dead process are removed within a minute. An error in one batch does not delay the others.
import type { Deps } from '../../platform/deps.js';
import { databaseNow } from '../../platform/mongodb/databaseNow.js';
import type { BatchRow } from '../../schemas/batches/batches.rows.js';
import { failUpload, isLost } from './imports/openImport.effect.js';
import { removeRows } from './removeRows.writes.js';

/** Throws when a batch could not be cleaned up; the next call retries it. */
export async function cleanUpBatches(deps: Deps): Promise<{ ended: number; removed: number }> {
  const { batches } = deps.collections;
  const [now, uploads, due] = await Promise.all([
    databaseNow(deps),
    batches.find({ phase: 'storing' }).toArray(),
    batches.find({ rowsUntil: { $lte: deps.now() } }).toArray(),
  ]);
  const lost = uploads.filter((batch) => isLost(batch, now));
  const failures: unknown[] = [];
  const each = async (some: BatchRow[], work: (batch: BatchRow) => Promise<void>) => {
    for (const batch of some)
      await work(batch).catch((error: unknown) => {
        failures.push(error);
        deps.log.warn({ err: error, batchId: batch._id }, 'a batch could not be cleaned up; trying again');
      });
  };
  await each(lost, (batch) => failUpload(deps, { batchId: batch._id }));
  await each(due, (batch) => removeRows(deps, batch));
  if (failures.length > 0) throw failures[0];
  return { ended: lost.length, removed: due.length };
}
