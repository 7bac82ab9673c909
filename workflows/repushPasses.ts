// Started by a schedule: phones that were pushed and have not fetched are pushed again (activities/wallets/repush.ts).
import { pushUntilSent } from './activityOptions.js';

export async function repushPasses(): Promise<{ pushed: number; stale: number }> {
  return pushUntilSent.repushStale();
}
