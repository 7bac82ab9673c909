// The workflow client: how long the workflow tasks of changes have waited (the backlog), and how many workflows it
// starts at the same time.
import type { Client, Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import pino from 'pino';
import { afterEach, expect, it } from 'vitest';
import { Withdrawn } from '../../../platform/fairLimit.js';
import {
  createWorkflowClient,
  type StartWorkflow,
  type WorkflowClient,
} from '../../../platform/temporal/workflowClient.js';

let workflowClient: WorkflowClient | undefined;
afterEach(() => workflowClient?.close());

/** A Temporal stand-in that answers starts when the test tells it to. */
function slowTemporal(taskQueue: object = {}): { workflowClient: WorkflowClient; begun: string[]; answer: () => void } {
  const begun: string[] = [];
  const waiting: (() => void)[] = [];
  const client = {
    options: { namespace: 'default' },
    workflow: {
      start: (_name: string, { workflowId }: { workflowId: string }) => {
        begun.push(workflowId);
        return new Promise<void>((resolve) => waiting.push(resolve));
      },
    },
  } as unknown as Client;
  const connection = {
    withDeadline: (_deadline: number, call: () => Promise<unknown>) => call(),
    workflowService: { describeTaskQueue: async () => taskQueue },
    close: async () => {},
  } as unknown as Connection;
  workflowClient = createWorkflowClient({ client, connection, log: pino({ level: 'silent' }) });
  const answer = () => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  return { workflowClient, begun, answer };
}

function workflow(workflowId: string, priority: 2 | 4, fairnessKey = 'm'): StartWorkflow<'retryPasses'> {
  return {
    name: 'retryPasses',
    workflowId,
    input: { merchantId: 'm', memberIds: [], eventIds: [] },
    summary: '',
    searchAttributes: { MerchantId: 'm' },
    priority,
    fairnessKey,
  };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

it('reports for how long the workflow tasks of changes have waited, regardless of tasks of lower priority', async () => {
  const waitedFor = (ms: number, approximateBacklogCount = 25) => ({
    approximateBacklogAge: msToTs(ms),
    approximateBacklogCount,
  });
  const { workflowClient } = slowTemporal({ statsByPriorityKey: { 2: {}, 3: waitedFor(4_250), 5: waitedFor(60_000) } });
  expect(workflowClient.backlogMs()).toBe(0);
  await settle();
  expect(workflowClient.backlogMs()).toBe(4_250);
  expect(workflowClient.available()).toBe(true);
});

it('does not count a few tasks as a backlog: they wait until a worker has started', async () => {
  const few = { approximateBacklogAge: msToTs(60_000), approximateBacklogCount: 5 };
  const { workflowClient } = slowTemporal({ statsByPriorityKey: { 2: few, 3: few } });
  await settle();
  expect(workflowClient.backlogMs()).toBe(0);
});

it('reports no backlog when the server does not', async () => {
  const { workflowClient } = slowTemporal();
  await settle();
  expect(workflowClient.backlogMs()).toBe(0);
  expect(workflowClient.available()).toBe(true);
});

it('a burst of a merchant starts six at a time, and leaves room for other merchants and for waiting callers', async () => {
  const { workflowClient, begun, answer } = slowTemporal();
  const burst = Array.from({ length: 100 }, (_, index) => workflowClient.start(workflow(`delivery-${index}`, 4)));
  await settle();
  expect(begun).toHaveLength(6);
  const other = workflowClient.start(workflow('other-merchant', 4, 'other'));
  await settle();
  expect(begun.at(-1)).toBe('other-merchant');
  const change = workflowClient.start(workflow('change', 2));
  await settle();
  expect(begun.at(-1)).toBe('change');
  for (let round = 0; round < 20; round += 1) {
    answer();
    await settle();
  }
  await Promise.all([change, other, ...burst]);
  expect(new Set(begun).size).toBe(102);
});

it('a start that gets no turn within its timeout fails, and Temporal still counts as available', async () => {
  const { workflowClient, begun, answer } = slowTemporal();
  await settle();
  const first = Array.from({ length: 6 }, (_, index) => workflowClient.start(workflow(`batch-${index}`, 4)));
  await expect(workflowClient.start(workflow('late', 4), 50)).rejects.toThrow(Withdrawn);
  expect(workflowClient.available()).toBe(true);
  answer();
  await Promise.all(first);
  expect(begun).not.toContain('late');
});
