// A workflow that measures the delay that the Temporal server adds: five steps that each fail once and are retried
// after 100 ms.

import { proxyActivities } from '@temporalio/workflow';

const { failOnce } = proxyActivities<{ failOnce(): Promise<void> }>({
  startToCloseTimeout: '5s',
  retry: { initialInterval: '100ms', maximumAttempts: 2 },
});

export async function retriedSteps(): Promise<void> {
  for (let step = 0; step < 5; step += 1) await failOnce();
}
