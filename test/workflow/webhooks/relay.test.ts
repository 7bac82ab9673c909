// The relay's workflow runs its activity without end, with a history that does not grow.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../../schemas/shared/ids.js';
import { until } from '../../rig/checks/until.js';
import { startWorkflowWorker, type WorkflowWorker } from '../../rig/start/workflowWorker.js';

let worker: WorkflowWorker;

beforeAll(async () => {
  worker = await startWorkflowWorker();
});
afterAll(() => worker.stop());

/** Keeps the relay of this test in its next round until it is ended. */
const park = () => {
  worker.fakes.relayEvents = () => new Promise((resolve) => setTimeout(() => resolve({ relayed: 0 }), 1_000));
};

it('the relay runs round after round in its shard, repeats a round that failed, and continues as new', async () => {
  let rounds = 0;
  worker.fakes.relayEvents = async ({ shard }) => {
    expect(shard).toBe(7);
    rounds += 1;
    if (rounds === 3) throw new Error('The worker is unavailable.');
    if (rounds > 60) park();
    return { relayed: 1 };
  };
  const workflowId = `relay-test:${newId()}`;
  const first = await worker.start('relay', { shard: 7 }, workflowId);
  const latest = worker.client.workflow.getHandle(workflowId);
  await until(() => rounds > 60);
  const { runId, historyLength } = await latest.describe();
  expect(runId).not.toBe(first.firstExecutionRunId);
  expect(historyLength).toBeLessThan(400);
  await latest.terminate('the test is over');
});
