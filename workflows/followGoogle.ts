// Updates Google's objects that no customer is known to have saved (activities/wallets/google/followObjects.ts). A
// schedule starts this workflow again when it has ended.
import { followUp } from './activityOptions.js';

export async function followGoogle(): Promise<{ followed: number }> {
  return followUp.followObjects();
}
