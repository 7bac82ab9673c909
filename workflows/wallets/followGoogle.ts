// Updates Google's objects that no customer is known to have saved
// (activities/wallets/google/followObjects.activity.ts). A schedule starts this workflow again when it has ended.
import { followUp } from '../shared/activityOptions.js';

export async function followGoogle(): Promise<{ followed: number }> {
  return followUp.followObjects();
}
