// Runs the relay of one shard. The loop itself is an activity, so that its thousands of small steps add nothing to the
// workflow's history. It ends when nothing is due; a worker that finds something due starts it again (worker/duties.ts).
import { continueAsNew, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import { type Relay, taskQueues } from '../../schemas/tables/workflows.js';

const { relayEvents } = proxyActivities<Activities>({
  taskQueue: taskQueues.webhooks,
  startToCloseTimeout: '10m',
  heartbeatTimeout: '4s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '5s' },
});

const roundsPerRun = 50;

export async function relay({ shard }: Relay): Promise<void> {
  let relayed = 0;
  for (let round = 0; round < roundsPerRun; round += 1) {
    setCurrentDetails(`Shard ${shard}: ${relayed} events relayed in this run.`);
    const done = await relayEvents({ shard });
    if (done.idle) return;
    relayed += done.relayed;
  }
  await continueAsNew<typeof relay>({ shard });
}
