// An erasure runs several times, continues while Google is unavailable, and ends only when Google has the empty object.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { readConfig } from '../../schemas/config.js';
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

const input = { merchantId: 'merchant-1', memberId: 'member-1', lastRunMs: 1_000 };
const look = 'look for member-1';

it('an erasure runs three times, the last time as late as configured, and then clears the object once more', async () => {
  const { ERASURE_LAST_RUN_MS: lastRunMs } = readConfig({
    CONSOLE_JWT_SECRET: '0'.repeat(32),
    SECRETS_KEY: Buffer.alloc(32).toString('base64'),
  });
  const startedAt = performance.now();
  expect(await (await worker.start('eraseMember', { ...input, lastRunMs })).result()).toEqual({ runs: 1 });
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(lastRunMs);
  expect(steps.toSorted()).toEqual(['Google', 'Google', 'end', look, look, look]);
  expect(steps.slice(-3)).toEqual([look, 'Google', 'end']);
});

it('an erasure runs while Google is unavailable, and ends when Google has accepted the empty object', async () => {
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
