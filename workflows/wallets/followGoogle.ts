// Updates Google's objects that no customer is known to have saved
// (activities/wallets/google/followObjects.activity.ts). A worker starts it when one is due (worker/duties.ts).
import { followUp } from '../shared/activityOptions.js';

export async function followGoogle(): Promise<{ followed: number }> {
  return followUp.followObjects();
}
