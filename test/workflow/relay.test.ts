// The relay's workflow keeps its activity at work for ever, without a history that grows.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../schemas/ids.js';
import { until } from '../rig/service.js';
import { startWorkflowWorker, type WorkflowWorker } from '../rig/workflowWorker.js';

/** No service of the other files has as many. */
const ownShard = 7;

let worker: WorkflowWorker;

beforeAll(async () => {
  worker = await startWorkflowWorker();
});
afterAll(() => worker.stop());

/** Parks the relay of this test in its next round, so that it stays quiet until it is ended. */
const park = () => {
  worker.fakes.relayEvents = () => new Promise((resolve) => setTimeout(() => resolve({ relayed: 0 }), 1_000));
};

it('relays round after round in its shard, takes a round again that failed, and goes on in a new run', async () => {
  let rounds = 0;
  worker.fakes.relayEvents = async ({ shard }) => {
    // The schedules of other files' services live on the same server: their relays come by here too.
    if (shard !== ownShard) return new Promise((resolve) => setTimeout(() => resolve({ relayed: 0 }), 1_000));
    rounds += 1;
    if (rounds === 3) throw new Error('The worker went away.');
    if (rounds > 60) park();
    return { relayed: 1 };
  };
  const workflowId = `relay-test:${newId()}`;
  const first = await worker.start('relay', { shard: ownShard }, workflowId);
  const latest = worker.client.workflow.getHandle(workflowId);
  await until(() => rounds > 60);
  const { runId, historyLength } = await latest.describe();
  expect(runId).not.toBe(first.firstExecutionRunId);
  expect(historyLength).toBeLessThan(400);
  await latest.terminate('the test is over');
});
