// An erasure runs several times, continues while Google is unavailable, and ends only when Google has the empty object.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startWorkflowWorker, type WorkflowWorker } from '../rig/workflowWorker.js';

let worker: WorkflowWorker;
let steps: string[];

beforeAll(async () => {
  worker = await startWorkflowWorker();
});
afterAll(() => worker.stop());

beforeEach(() => {
  steps = [];
  worker.fakes.removeTraces = async ({ memberId }) => {
    steps.push(`look for ${memberId}`);
  };
  worker.fakes.clearGoogleObject = async () => {
    steps.push('Google');
  };
  worker.fakes.endErasure = async () => {
    steps.push('end');
    return { runs: 1 };
  };
});

const input = { merchantId: 'merchant-1', memberId: 'member-1' };
const look = 'look for member-1';

it('runs three times, and clears the object once more after the last run', async () => {
  expect(await (await worker.start('eraseMember', input)).result()).toEqual({ runs: 1 });
  expect(steps.toSorted()).toEqual(['Google', 'Google', 'end', look, look, look]);
  expect(steps.slice(-3)).toEqual([look, 'Google', 'end']);
});

it('runs while Google is unavailable, and ends when Google has accepted the empty object', async () => {
  let refusals = 3;
  worker.fakes.clearGoogleObject = async () => {
    refusals -= 1;
    if (refusals >= 0) throw new Error('Google is unavailable.');
    steps.push('Google');
  };
  expect(await (await worker.start('eraseMember', input)).result()).toEqual({ runs: 1 });
  expect(steps[0]).toBe(look);
  expect(steps.slice(-2)).toEqual(['Google', 'end']);
});
