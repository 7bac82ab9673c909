// The relay's workflow repeats its activity with a history that does not grow, and ends when nothing is due.
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

it('the relay ends when nothing is due', async () => {
  const rounds = [{ relayed: 3 }, { relayed: 2, idle: true as const }];
  worker.fakes.relayEvents = async () => rounds.shift() ?? { relayed: 0 };
  await (await worker.start('relay', { shard: 7 }, `relay-test:${newId()}`)).result();
  expect(rounds).toEqual([]);
});
