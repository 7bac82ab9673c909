// Starts the workflow of each unfinished batch that lost it (activities/batches/startBatch.ts). A schedule starts this
// workflow.
import { database } from './activityOptions.js';

export async function reviveBatches(): Promise<{ unfinished: number }> {
  return database.reviveBatches();
}
