// Keeps Google's objects up to date whose customers are not known (activities/wallets/google/followObjects.ts). A
// schedule starts this workflow again when it has ended.
import { followUp } from './activityOptions.js';

export async function followGoogle(): Promise<{ followed: number }> {
  return followUp.followObjects();
}
