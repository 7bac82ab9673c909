// The rows of a batch: the rows of an import, or the targets of another batch. `rowsUntil` of the batch says when they
// are removed. It is set only when the batch ends, so a running batch keeps its rows, however long it takes.
import type { Deps } from '../../platform/deps.js';
import { removeAll } from '../../platform/mongodb/updateMany.js';
import type { BatchRow } from '../../schemas/batches/batches.rows.js';

const dayMs = 86_400_000;

/** How long the rows of an ended batch are kept, for errors.csv and for late pushes. */
export const keptMs = 7 * dayMs;
/** The same while an ended import still has passes to issue. Each attempt to issue them starts the period again. */
export const keptForPassesMs = 30 * dayMs;

/** The `rowsUntil` of a broken-off upload: its rows are removed at once, on any clock. */
export const atOnce = new Date(0);
/**
 * A process that was paused may have stored another row of a broken-off upload before it noticed that the upload had
 * ended.
 */
const secondRunMs = 300_000;

/** Removes the rows. The next call completes an interrupted one. */
export async function removeRows(
  deps: Deps,
  { _id: batchId, rowsUntil }: Pick<BatchRow, '_id' | 'rowsUntil'>,
): Promise<void> {
  await removeAll(deps, 'importChunks', { batchId });
  await removeAll(deps, 'batchTargets', { batchId });
  if (rowsUntil === undefined) return;
  const again = rowsUntil.getTime() === atOnce.getTime();
  await deps.collections.batches.updateOne(
    { _id: batchId, rowsUntil },
    again ? { $set: { rowsUntil: new Date(deps.now().getTime() + secondRunMs) } } : { $unset: { rowsUntil: '' } },
  );
}
