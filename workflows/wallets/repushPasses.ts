// Pushes again to phones that did not fetch the pass after a push (activities/wallets/apple/repush.activity.ts). A
// worker starts it when one is due (worker/duties.ts).
import { pushUntilSent } from '../shared/activityOptions.js';

export async function repushPasses(): Promise<{ pushed: number; stale: number }> {
  return pushUntilSent.repushStale();
}
