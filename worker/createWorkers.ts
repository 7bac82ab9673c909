// Creates one Temporal Worker for each task queue. Only the queue `workflows` runs workflow code, together with short
// database activities. Queues whose activities mostly wait for wallets or receivers have more activity slots.
import { hostname } from 'node:os';
import type { DataConverter } from '@temporalio/common';
import { type NativeConnection, Worker, type WorkflowBundle } from '@temporalio/worker';
import type { Activities } from '../activities/index.js';
import { newId } from '../schemas/shared/ids.js';
import { taskQueues } from '../schemas/tables/workflows.js';
import { redactErrors } from './interceptors.js';

export interface CreateWorkers {
  connection: NativeConnection;
  namespace: string;
  workflowBundle: WorkflowBundle | { codePath: string };
  activities: Activities;
  /** Temporal's default if omitted. */
  dataConverter?: DataConverter;
  /** 0 makes every workflow task a replay, so that tests find nondeterministic workflow code. */
  maxCachedWorkflows?: number;
}

/**
 * Few, because Temporal gives tasks to the open polls of a host that was paused or lost its network too, one after the
 * other, and each is tried again only when its attempt has timed out.
 */
const activityTaskPollerBehavior = { type: 'autoscaling', initial: 2, minimum: 1, maximum: 4 } as const;

export const workflowSlots = 40;
export const activitySlots = {
  workflows: 50,
  wallets: 100,
  webhooks: 500,
  retries: 1_500,
  imports: 8,
  batches: 8,
} as const satisfies Record<keyof typeof taskQueues, number>;

export function createWorkers({
  workflowBundle,
  maxCachedWorkflows = 500,
  ...given
}: CreateWorkers): Promise<Worker[]> {
  const shared = {
    ...given,
    // Tells a process from the one before it in the same container.
    identity: `${process.pid}@${hostname()} ${newId()}`,
    activityTaskPollerBehavior,
    interceptors: { activity: [redactErrors] },
    shutdownGraceTime: '10s',
    shutdownForceTime: '20s',
  };
  const withActivities = (queue: keyof typeof activitySlots) => ({
    ...shared,
    taskQueue: taskQueues[queue],
    maxConcurrentActivityTaskExecutions: activitySlots[queue],
  });
  return Promise.all([
    Worker.create({
      ...withActivities('workflows'),
      workflowBundle,
      maxCachedWorkflows,
      // The cached workflows of a dead worker go to another worker after 1 s.
      stickyQueueScheduleToStartTimeout: '1s',
      maxConcurrentWorkflowTaskExecutions: workflowSlots,
    }),
    ...(['wallets', 'webhooks', 'retries', 'imports', 'batches'] as const).map((queue) =>
      Worker.create(withActivities(queue)),
    ),
  ]);
}
