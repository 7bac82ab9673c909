// How each kind of effect may take its time: timeouts and retries are always explicit. A start-to-close timeout bounds an
// attempt; a heartbeat tells a dead worker within seconds.
import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import { taskQueues } from '../schemas/workflows.js';

/** While the API waits: one attempt inside the workflow task, which itself keeps to PASS_UPDATE_WAIT_MS (8 s at most). */
export const pushNow = proxyLocalActivities<Activities>({
  startToCloseTimeout: '9s',
  retry: { maximumAttempts: 1 },
});

/** Short work on the database. */
export const database = proxyActivities<Activities>({
  taskQueue: taskQueues.gestures,
  startToCloseTimeout: '20s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '10s' },
});

/** Apple and Google, until they took it. */
export const pushUntilSent = proxyActivities<Activities>({
  taskQueue: taskQueues.wallet,
  startToCloseTimeout: '30s',
  heartbeatTimeout: '4s',
  scheduleToCloseTimeout: '24h',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '60s' },
});

/** The first try of a new pass: short, since a person may be waiting for it. */
export const issueNow = proxyLocalActivities<Activities>({
  startToCloseTimeout: '2s',
  retry: { maximumAttempts: 1 },
});

export const issueUntilDone = proxyActivities<Activities>({
  taskQueue: taskQueues.wallet,
  startToCloseTimeout: '30s',
  heartbeatTimeout: '4s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '60s' },
});

/** Publishing with first attempts: as long as the slowest receiver may take, watched by heartbeats. */
export const webhooks = proxyActivities<Activities>({
  taskQueue: taskQueues.webhooks,
  startToCloseTimeout: '10m',
  heartbeatTimeout: '4s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '30s' },
});

/** One look at the database from within the workflow task: for what somebody waits for, without a task of its own. */
export const lookNow = proxyLocalActivities<Activities>({
  startToCloseTimeout: '2s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '10s' },
});

const inShares = {
  startToCloseTimeout: '10m',
  heartbeatTimeout: '4s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '30s' },
} as const;

export const imports = proxyActivities<Activities>({ taskQueue: taskQueues.imports, ...inShares });

export const batches = proxyActivities<Activities>({ taskQueue: taskQueues.batches, ...inShares });
