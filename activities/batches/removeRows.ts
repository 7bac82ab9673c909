// The rows of a batch: an import's rows, the targets of another batch. `rowsUntil` of the batch says when they are
// removed. It is set when the batch ends and never before, so a batch that still runs keeps its rows, however long it
// takes.
import type { Deps } from '../../platform/deps.js';
import { removeAll } from '../../platform/mongodb/updateMany.js';
import type { BatchRow } from '../../schemas/collections.js';

const dayMs = 86_400_000;

/** The rows of an ended batch are kept this long, for errors.csv and for pushes that arrive late. */
export const keptMs = 7 * dayMs;
/** While an ended import has passes to issue. Each attempt to issue them starts this time anew. */
export const keptForPassesMs = 30 * dayMs;

/** The `rowsUntil` of a broken-off upload: its rows are removed at once, whatever the clock says. */
export const atOnce = new Date(0);
/** A process that stood still may have stored another row of a broken-off upload before it found out. */
const secondLookMs = 300_000;

/** Removes the rows. A call that was interrupted is completed by the next one. */
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
    again ? { $set: { rowsUntil: new Date(deps.now().getTime() + secondLookMs) } } : { $unset: { rowsUntil: '' } },
  );
}
