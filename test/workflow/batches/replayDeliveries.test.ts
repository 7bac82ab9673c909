// The workflow of a replay: it lists its targets once, and processes them over several runs.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../../schemas/shared/ids.js';
import { startWorkflowWorker, type WorkflowWorker } from '../../rig/start/workflowWorker.js';

let worker: WorkflowWorker;

beforeAll(async () => {
  worker = await startWorkflowWorker();
});
afterAll(() => worker.stop());

it('a replay snapshots its list once, and continues as new after fifty steps at the same position', async () => {
  const batchId = newId();
  const steps: number[] = [];
  let drawnUp = 0;
  const holders: string[] = [];
  worker.fakes.snapshotReplay = async () => {
    drawnUp += 1;
    return { total: 53 };
  };
  worker.fakes.replayEvents = async ({ from }) => {
    steps.push(from);
    return { next: from + 1, over: from === 52, total: 53, done: from + 1, created: 0, completedMembers: 0 };
  };
  worker.fakes.finishBatch = async ({ leaseOwner }) => {
    holders.push(leaseOwner);
    return { phase: 'completed', eventId: 'event-1' };
  };
  worker.fakes.publishEvents = async () => ({ published: 1 });
  const handle = await worker.start('replayDeliveries', { merchantId: 'm', batchId }, `replay:${batchId}`);
  expect(await handle.result()).toEqual({ phase: 'completed' });
  expect(drawnUp).toBe(1);
  expect(steps).toEqual(Array.from({ length: 53 }, (_, index) => index));
  expect(holders).toEqual([`replay:${batchId}`]);
  const last = await worker.client.workflow.getHandle(handle.workflowId).describe();
  expect(last.runId).not.toBe(handle.firstExecutionRunId);
});
