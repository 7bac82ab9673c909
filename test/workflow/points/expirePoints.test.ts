// The expiry of points continues until nothing is left, through failed steps and continue-as-new.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startWorkflowWorker, type WorkflowWorker } from '../../rig/start/workflowWorker.js';

let worker: WorkflowWorker;

beforeAll(async () => {
  worker = await startWorkflowWorker();
});
afterAll(() => worker.stop());

it('an expiry expires points between two steps of giving lots, and goes through all slices after the last', async () => {
  const steps: string[] = [];
  worker.fakes.giveLots = async ({ programId }) => {
    steps.push(`lots ${programId}`);
    return { given: 1, over: steps.length === 5 };
  };
  worker.fakes.expireLots = async ({ from, at, programId }) => {
    steps.push(`${from} ${programId} ${at}`);
    return { expired: 5, failed: 0, ...(from < 40 && { next: from + 30 }) };
  };
  const handle = await worker.start('expirePoints', { programId: 'p', at: 7 });
  expect(await handle.result()).toEqual({ expired: 25 });
  const meanwhile = ['lots p', '0 p 7', 'lots p', '30 p 7', 'lots p'];
  expect(steps).toEqual([...meanwhile, '0 p 7', '30 p 7', '60 p 7']);
});

it('an expiry repeats a step that failed, and continues as new after twenty steps', async () => {
  let step = 0;
  let failed = false;
  worker.fakes.giveLots = async () => ({ given: 0, over: true });
  worker.fakes.expireLots = async ({ from }) => {
    if (step === 10 && !failed) {
      failed = true;
      throw new Error('The database is unavailable.');
    }
    step += 1;
    return { expired: 1, failed: 0, ...(step < 25 && { next: from }) };
  };
  const handle = await worker.start('expirePoints', {});
  expect(await handle.result()).toEqual({ expired: 25 });
  const last = await worker.client.workflow.getHandle(handle.workflowId).describe();
  expect(last.runId).not.toBe(handle.firstExecutionRunId);
});
