// Pushes that did not get through at once, of a relay's or a batch's events: asked again until the wallets take them.
import { setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { PushLate } from '../schemas/workflows.js';
import { pushUntilSent, webhooks } from './activityOptions.js';

export async function pushPassesLate({ eventIds }: PushLate): Promise<void> {
  setCurrentDetails(`Pushing ${eventIds.length} changes until the wallets take them.`);
  await pushUntilTaken({ holder: workflowInfo().workflowId, eventIds });
}

export async function pushUntilTaken(claim: { holder: string; eventIds: string[] }): Promise<void> {
  const { eventIds } = await pushUntilSent.pushLate(claim);
  if (eventIds.length > 0) await webhooks.publishEvents({ holder: claim.holder, eventIds });
}
