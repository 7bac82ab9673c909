// Repeats pushes that failed at first, until the wallets take them. The events come from the relay or a batch.
import { setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { PushLate } from '../schemas/workflows.js';
import { pushUntilSent, webhooks } from './activityOptions.js';

export async function pushPassesLate({ eventIds }: PushLate): Promise<void> {
  setCurrentDetails(`Pushing ${eventIds.length} changes until the wallets take them.`);
  await pushUntilTaken({ leaseOwner: workflowInfo().workflowId, eventIds });
}

export async function pushUntilTaken(lease: { leaseOwner: string; eventIds: string[] }): Promise<void> {
  const { eventIds } = await pushUntilSent.pushLate(lease);
  if (eventIds.length > 0) await webhooks.publishEvents({ leaseOwner: lease.leaseOwner, eventIds });
}
