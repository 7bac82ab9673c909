// Passes that a wallet did not take while their members were told of, of a relay's events: asked again until it takes them. Their
// events are published by the relay.
import { setCurrentDetails } from '@temporalio/workflow';
import type { IssueLate } from '../schemas/workflows.js';
import { issueUntilDone } from './activityOptions.js';

export async function issuePassesLate({ memberIds }: IssueLate): Promise<void> {
  setCurrentDetails(`Issuing the passes of ${memberIds.length} members until the wallets take them.`);
  await issueUntilDone.issueLate({ memberIds });
}
