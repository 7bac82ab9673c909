// Ends broken-off uploads, and removes rows that ended batches no longer need
// (activities/batches/cleanUpBatches.activity.ts). A worker starts it when there are some (worker/duties.ts).
import { batches } from '../shared/activityOptions.js';

export async function removeBatchRows(): Promise<{ ended: number; removed: number }> {
  return batches.cleanUpBatches();
}
