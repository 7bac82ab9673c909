// An erasure runs several times, and waits for no wallet.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { readConfig } from '../../../schemas/shared/config.schema.js';
import { startWorkflowWorker, type WorkflowWorker } from '../../rig/start/workflowWorker.js';

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
  worker.fakes.endErasure = async () => {
    steps.push('end');
    return { runs: 1 };
  };
});

const input = { merchantId: 'merchant-1', memberId: 'member-1', lastRunMs: 1_000 };
const look = 'look for member-1';

it('the last run is 15 s after the erasure unless it is configured', () => {
  const required = { CONSOLE_JWT_SECRET: '0'.repeat(32), SECRETS_KEY: Buffer.alloc(32).toString('base64') };
  expect(readConfig(required).ERASURE_LAST_RUN_MS).toBe(15_000);
});

it('an erasure runs three times, the last time as late as configured, and calls no wallet', async () => {
  const lastRunMs = 2_000;
  const startedAt = performance.now();
  expect(await (await worker.start('eraseMember', { ...input, lastRunMs })).result()).toEqual({ runs: 1 });
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(lastRunMs);
  expect(steps).toEqual([look, look, look, 'end']);
});
