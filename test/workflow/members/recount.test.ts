// The workflow of the recount: over all merchants in steps, through failed steps and continue-as-new.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Recount } from '../../../schemas/tables/workflows.js';
import { startWorkflowWorker, type WorkflowWorker } from '../../rig/start/workflowWorker.js';

let worker: WorkflowWorker;

beforeAll(async () => {
  worker = await startWorkflowWorker();
});
afterAll(() => worker.stop());

it('the recount continues after the last merchant of each step until none is left, and adds up the repairs', async () => {
  const asked: Recount[] = [];
  worker.fakes.recountMerchants = async (input) => {
    asked.push(input);
    const step = asked.length;
    return { merchants: 20, repaired: 1, ...(step < 3 && { next: `merchant-${step}` }) };
  };
  const handle = await worker.start('recount', {});
  expect(await handle.result()).toEqual({ merchants: 60, repaired: 3 });
  expect(asked).toEqual([{}, { after: 'merchant-1' }, { after: 'merchant-2' }]);
});

it('the recount repeats a step that failed, and continues as new after twenty steps', async () => {
  let step = 0;
  let failed = false;
  worker.fakes.recountMerchants = async () => {
    if (step === 10 && !failed) {
      failed = true;
      throw new Error('The database is unavailable.');
    }
    step += 1;
    return { merchants: 1, repaired: 0, ...(step < 25 && { next: `merchant-${step}` }) };
  };
  const handle = await worker.start('recount', {});
  const { historyLength } = await handle.describe();
  expect(await handle.result()).toEqual({ merchants: 25, repaired: 0 });
  expect(historyLength).toBeLessThan(500);
  const last = await worker.client.workflow.getHandle(handle.workflowId).describe();
  expect(last.runId).not.toBe(handle.firstExecutionRunId);
});
