// The workflow of a campaign: its steps in order, an event at every kind of end, and a bounded history.
import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { newId } from '../../../schemas/shared/ids.js';
import { aGate } from '../../rig/standins/gate.js';
import { startWorkflowWorker, type WorkflowWorker } from '../../rig/start/workflowWorker.js';

let worker: WorkflowWorker;
let calls: string[];
let batchId: string;

const stepped = (from: number, over: boolean) => ({
  next: from + 1,
  over,
  total: 3,
  done: from + 1,
  created: 0,
  completedMembers: 0,
});

beforeAll(async () => {
  worker = await startWorkflowWorker();
});
afterAll(() => worker.stop());

beforeEach(() => {
  calls = [];
  batchId = newId();
  worker.fakes.snapshotCampaign = async () => {
    calls.push('snapshotTargets');
    return { total: 3 };
  };
  worker.fakes.sendMessages = async ({ from }) => {
    calls.push(`send ${from}`);
    return stepped(from, from === 2);
  };
  worker.fakes.finishBatch = async ({ failure, leaseOwner }) => {
    calls.push(`finish ${failure ?? 'well'} for ${leaseOwner.split(':')[0]}`);
    return { phase: failure === undefined ? 'completed' : 'failed', eventId: 'event-1' };
  };
  worker.fakes.publishEvents = async ({ eventIds }) => {
    calls.push(`publish ${eventIds.join()}`);
    return { published: 1 };
  };
});

const start = (cursor?: number) =>
  worker.start(
    'sendCampaign',
    { merchantId: 'm', batchId, ...(cursor !== undefined && { cursor }) },
    `campaign:${batchId}`,
  );

it('a campaign snapshots the list, processes it in order, then publishes its end', async () => {
  const handle = await start();
  expect(await handle.result()).toEqual({ phase: 'completed' });
  expect(calls).toEqual([
    'snapshotTargets',
    'send 0',
    'send 1',
    'send 2',
    'finish well for campaign',
    'publish event-1',
  ]);
});

it('a campaign lists step by step until the list is complete, also over several runs of the workflow', async () => {
  let left = 52;
  worker.fakes.snapshotCampaign = async () => {
    left -= 1;
    return { total: 52 - left, ...(left > 0 && { more: true as const }) };
  };
  const handle = await start();
  expect(await worker.client.workflow.getHandle(handle.workflowId).result()).toEqual({ phase: 'completed' });
  expect(left).toBe(0);
  expect(calls.slice(0, 3)).toEqual(['send 0', 'send 1', 'send 2']);
});

it('a campaign continues where an earlier run stopped, with the list of that run', async () => {
  await (await start(2)).result();
  expect(calls).toEqual(['send 2', 'finish well for campaign', 'publish event-1']);
});

it('a campaign for a time to come waits for it, then lists its members', async () => {
  const since = Date.now();
  const moments = [since + 1_000, since + 1_001];
  worker.fakes.snapshotCampaign = async () => {
    calls.push('snapshotTargets');
    const notBefore = moments.shift();
    return notBefore === undefined ? { total: 3 } : { total: 0, more: true, notBefore };
  };
  expect(await (await start()).result()).toEqual({ phase: 'completed' });
  expect(Date.now() - since).toBeGreaterThanOrEqual(1_000);
  expect(calls.slice(0, 4)).toEqual([...Array(3).fill('snapshotTargets'), 'send 0']);
});

it('a campaign repeats a step that failed once', async () => {
  let failed = false;
  const { sendMessages } = worker.fakes;
  worker.fakes.sendMessages = async (step) => {
    if (step.from === 1 && !failed) {
      failed = true;
      throw new Error('The database is unavailable.');
    }
    if (!sendMessages) throw new Error('No step.');
    return sendMessages(step);
  };
  expect(await (await start()).result()).toEqual({ phase: 'completed' });
  expect(calls.filter((call) => call === 'send 1')).toHaveLength(1);
});

it('a campaign publishes a failure that no retry can repair', async () => {
  worker.fakes.sendMessages = async () => {
    throw ApplicationFailure.create({ message: 'The list is gone.', nonRetryable: true });
  };
  expect(await (await start()).result()).toEqual({ phase: 'failed' });
  expect(calls).toEqual(['snapshotTargets', 'finish The list is gone. for campaign', 'publish event-1']);
});

it('a campaign publishes its end when an operator cancels it', async () => {
  const { open: begun, opened: beginning } = aGate();
  worker.fakes.sendMessages = async ({ from }) => {
    begun();
    await new Promise((resolve) => setTimeout(resolve, 200));
    return stepped(from, false);
  };
  const handle = await start();
  await beginning;
  await worker.client.workflow.getHandle(handle.workflowId).cancel();
  expect(await handle.result()).toEqual({ phase: 'failed' });
  expect(calls).toEqual(['snapshotTargets', 'finish cancelled for campaign', 'publish event-1']);
});
