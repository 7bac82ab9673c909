// One Worker for each task queue. Workflow code runs on `gestures` alone; the other queues are effects, each with the slots
// that its kind of waiting needs.
import { type NativeConnection, Worker, type WorkflowBundle } from '@temporalio/worker';
import type { Activities } from '../activities/index.js';
import { taskQueues } from '../schemas/workflows.js';
import { plainErrors } from './interceptors.js';

export interface CreateWorkers {
  connection: NativeConnection;
  namespace: string;
  workflowBundle: WorkflowBundle | { codePath: string };
  activities: Activities;
  /** 0 makes every workflow task a replay, which is how tests find what is not deterministic. */
  maxCachedWorkflows?: number;
}

export function createWorkers({
  workflowBundle,
  maxCachedWorkflows = 500,
  ...given
}: CreateWorkers): Promise<Worker[]> {
  const shared = {
    ...given,
    interceptors: { activity: [plainErrors] },
    shutdownGraceTime: '10s',
    shutdownForceTime: '20s',
  };
  return Promise.all([
    Worker.create({
      ...shared,
      taskQueue: taskQueues.gestures,
      workflowBundle,
      maxCachedWorkflows,
      // A dead worker's cached workflows go to another one after a second.
      stickyQueueScheduleToStartTimeout: '1s',
      maxConcurrentWorkflowTaskExecutions: 40,
      maxConcurrentActivityTaskExecutions: 50,
    }),
    Worker.create({ ...shared, taskQueue: taskQueues.wallet, maxConcurrentActivityTaskExecutions: 100 }),
    Worker.create({ ...shared, taskQueue: taskQueues.webhooks, maxConcurrentActivityTaskExecutions: 1_500 }),
    Worker.create({ ...shared, taskQueue: taskQueues.imports, maxConcurrentActivityTaskExecutions: 8 }),
    Worker.create({ ...shared, taskQueue: taskQueues.batches, maxConcurrentActivityTaskExecutions: 8 }),
  ]);
}
