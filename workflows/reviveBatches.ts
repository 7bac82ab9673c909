// Started by a schedule: batches that are not over and lost their workflow get it back (activities/reviveBatches.ts).
import { database } from './activityOptions.js';

export async function reviveBatches(): Promise<{ unfinished: number }> {
  return database.reviveBatches();
}
