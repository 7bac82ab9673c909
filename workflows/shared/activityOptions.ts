// Timeouts and retry policy of each kind of activity. All of them are explicit. `startToCloseTimeout` limits one
// attempt; `heartbeatTimeout` lets Temporal detect a dead worker within 4 s.
import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import { taskQueues } from '../../schemas/tables/workflows.js';

/**
 * For a push while the API waits, and the first attempt to publish: one attempt inside the workflow task. The push
 * waits for the wallets for at most 75 % of PASS_UPDATE_WAIT_MS, which is at most 8 s, publishing for receivers for 250 ms.
 */
export const atOnce = proxyLocalActivities<Activities>({
  startToCloseTimeout: '9s',
  retry: { maximumAttempts: 1 },
});

/**
 * Searches for lost workflows. It stops before the next look of a worker, whose run then begins with the longest due.
 */
export const revival = proxyActivities<Activities>({
  taskQueue: taskQueues.workflows,
  startToCloseTimeout: '25s',
  scheduleToCloseTimeout: '25s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '5s' },
});

/** Removes the remaining data of an erased member. It may read many rows, and must not hold a slot of changes. */
export const erasing = proxyActivities<Activities>({
  taskQueue: taskQueues.batches,
  startToCloseTimeout: '10m',
  heartbeatTimeout: '4s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '10s' },
});

/** Requests to Apple and Google, repeated until the wallet accepts them, for at most 24 h. */
export const pushUntilSent = proxyActivities<Activities>({
  taskQueue: taskQueues.wallets,
  startToCloseTimeout: '30s',
  heartbeatTimeout: '4s',
  scheduleToCloseTimeout: '24h',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '60s' },
});

/** A loop of at most five minutes over the outdated objects at Google. */
export const followUp = proxyActivities<Activities>({
  taskQueue: taskQueues.wallets,
  startToCloseTimeout: '10m',
  heartbeatTimeout: '4s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '10s' },
});

/** The first attempt to issue a pass. It is short because a person may be waiting for the pass. */
export const issueNow = proxyLocalActivities<Activities>({
  startToCloseTimeout: '2s',
  retry: { maximumAttempts: 1 },
});

/** Passes that a wallet did not accept, until it does. One attempt issues for about ten seconds. */
export const issueUntilDone = proxyActivities<Activities>({
  taskQueue: taskQueues.wallets,
  startToCloseTimeout: '30s',
  heartbeatTimeout: '4s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '60s' },
});

const chunkOptions = {
  startToCloseTimeout: '10m',
  heartbeatTimeout: '4s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '30s' },
} as const;

/**
 * Publishing with first attempts. An attempt may take as long as the slowest receiver; heartbeats show that its worker
 * is alive.
 */
export const webhooks = proxyActivities<Activities>({ taskQueue: taskQueues.webhooks, ...chunkOptions });

export const imports = proxyActivities<Activities>({ taskQueue: taskQueues.imports, ...chunkOptions });

/**
 * Mails. The activity sets the wait after each attempt, and gives the mail up after its time limit
 * (schemas/mail/mails.schema.ts). The policy applies only to failures other than the mail server's.
 */
export const mails = proxyActivities<Activities>({
  taskQueue: taskQueues.retries,
  startToCloseTimeout: '90s',
  heartbeatTimeout: '4s',
  scheduleToCloseTimeout: '48h',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '60s' },
});

/** Replays. They wait for receivers and for their rate, and must not occupy the slots of other batches. */
export const replays = proxyActivities<Activities>({ taskQueue: taskQueues.retries, ...chunkOptions });

export const batches = proxyActivities<Activities>({ taskQueue: taskQueues.batches, ...chunkOptions });
