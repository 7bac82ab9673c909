// Updates the classes of changed programs at Google (activities/wallets/google/upsertClasses.activity.ts). A worker
// starts it when one is due (worker/duties.ts).
import { pushUntilSent } from '../shared/activityOptions.js';

export async function updateClasses(): Promise<{ updated: number }> {
  return pushUntilSent.upsertClasses();
}
