// Ends broken-off uploads, and removes rows that ended batches no longer need (activities/batches/cleanUpBatches.ts). A
// schedule starts this workflow.
import { batches } from './activityOptions.js';

export async function removeBatchRows(): Promise<{ ended: number; removed: number }> {
  return batches.cleanUpBatches();
}
