// Updates the classes of changed programs at Google (activities/wallets/google/upsertClasses.activity.ts). A schedule
// starts this workflow.
import { pushUntilSent } from '../shared/activityOptions.js';

export async function updateClasses(): Promise<{ updated: number }> {
  return pushUntilSent.upsertClasses();
}
