// Keeps one shard's relay at work for as long as it runs: the loop itself is an activity, so that its thousands of small
// steps leave no history. Kept alive by a schedule.
import { continueAsNew, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import { type Relay, taskQueues } from '../schemas/workflows.js';

const { relayEvents } = proxyActivities<Activities>({
  taskQueue: taskQueues.webhooks,
  startToCloseTimeout: '10m',
  heartbeatTimeout: '4s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '5s' },
});

const roundsARun = 50;

export async function relay({ shard }: Relay): Promise<void> {
  let relayed = 0;
  for (let round = 0; round < roundsARun; round += 1) {
    setCurrentDetails(`Shard ${shard}: ${relayed} events relayed in this run.`);
    relayed += (await relayEvents({ shard })).relayed;
  }
  await continueAsNew<typeof relay>({ shard });
}
