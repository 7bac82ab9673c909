// Retries for the relay or a batch until the wallets accept: pushes for at most 24 h, the issuing of passes without a
// limit. The relay publishes the events of issued passes.
import { setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { RetryPasses } from '../../schemas/tables/workflows.js';
import { issueUntilDone, pushUntilSent, webhooks } from '../shared/activityOptions.js';

export async function retryPasses({ memberIds, eventIds }: RetryPasses): Promise<void> {
  setCurrentDetails(`Issuing the passes of ${memberIds.length} members and pushing ${eventIds.length} changes.`);
  await Promise.all([
    memberIds.length > 0 ? issueUntilDone.issueLate({ memberIds }) : undefined,
    eventIds.length > 0 ? pushUntilTaken({ leaseOwner: workflowInfo().workflowId, eventIds }) : undefined,
  ]);
}

async function pushUntilTaken(lease: { leaseOwner: string; eventIds: string[] }): Promise<void> {
  const { newEventIds } = await pushUntilSent.pushLate(lease);
  if (newEventIds.length > 0) await webhooks.publishEvents({ leaseOwner: lease.leaseOwner, eventIds: newEventIds });
}
