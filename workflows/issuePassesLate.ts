// Issues the passes that a wallet did not take before the relay published the enrollments of their members. Repeats
// until the wallets take the passes. The relay publishes the resulting events.
import { setCurrentDetails } from '@temporalio/workflow';
import type { IssueLate } from '../schemas/workflows.js';
import { issueUntilDone } from './activityOptions.js';

export async function issuePassesLate({ memberIds }: IssueLate): Promise<void> {
  setCurrentDetails(`Issuing the passes of ${memberIds.length} members until the wallets take them.`);
  await issueUntilDone.issueLate({ memberIds });
}
