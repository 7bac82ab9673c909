// Retries for the relay or a batch until the wallets accept: pushes for at most 24 h, the issuing of passes without a
// limit. The relay publishes the events of issued passes.
import { setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { RetryPasses } from '../../schemas/tables/workflows.js';
import { issueUntilDone } from '../shared/activityOptions.js';
import { pushLate } from '../shared/pushLate.js';

export async function retryPasses({ memberIds, eventIds }: RetryPasses): Promise<void> {
  setCurrentDetails(`Issuing the passes of ${memberIds.length} members and pushing ${eventIds.length} changes.`);
  await Promise.all([
    memberIds.length > 0 ? issueUntilDone.issueLate({ memberIds }) : undefined,
    pushLate({ leaseOwner: workflowInfo().workflowId, eventIds }),
  ]);
}
