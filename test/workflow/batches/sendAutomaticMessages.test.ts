// The workflow of an automatic message: it asks what is due, waits until the next day, and ends when the rule is off.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { newId } from '../../../schemas/shared/ids.js';
import { ruleChangedName } from '../../../schemas/tables/workflows.js';
import { until } from '../../rig/checks/until.js';
import { startWorkflowWorker, type WorkflowWorker } from '../../rig/start/workflowWorker.js';

let worker: WorkflowWorker;
let asked: number[];
let waits: (number | undefined)[];

beforeAll(async () => {
  worker = await startWorkflowWorker();
});
afterAll(() => worker.stop());

beforeEach(() => {
  asked = [];
  waits = [];
  worker.fakes.runAutomaticRule = async () => {
    asked.push(Date.now());
    const wait = waits.shift();
    return wait === undefined ? {} : { nextAt: Date.now() + wait, said: 'Waits.' };
  };
});

const start = () =>
  worker.start('sendAutomaticMessages', { merchantId: 'm', ruleId: 'p:away' }, `automatic:p:away:${newId()}`);

it('an automatic message that is off ends at once', async () => {
  await (await start()).result();
  expect(asked).toHaveLength(1);
});

it('an automatic message asks again when its next day is due', async () => {
  waits = [1_000];
  await (await start()).result();
  const [first = 0, second = 0] = asked;
  expect(asked).toHaveLength(2);
  expect(second - first).toBeGreaterThanOrEqual(1_000);
});

it('an automatic message asks at once when its rule was changed, also when it is told while it asks', async () => {
  waits = [3_600_000, 3_600_000];
  const handle = await start();
  await until(async () => asked.length === 1);
  await handle.signal(ruleChangedName);
  await until(async () => asked.length === 2);
  const answer = worker.fakes.runAutomaticRule;
  worker.fakes.runAutomaticRule = async (input) => {
    if (asked.length === 2) await handle.signal(ruleChangedName);
    return (await answer?.(input)) ?? {};
  };
  await handle.signal(ruleChangedName);
  await handle.result();
  expect(asked).toHaveLength(4);
});

it('an automatic message continues in a new run, so that its history stays short', async () => {
  waits = Array(31).fill(3_600_000);
  const answer = worker.fakes.runAutomaticRule;
  let started: ReturnType<typeof start> | undefined;
  // A change of the rule ends the wait for the next day, which is at least a second.
  worker.fakes.runAutomaticRule = async (input) => {
    if (waits.length > 0) await (await started)?.signal(ruleChangedName);
    return (await answer?.(input)) ?? {};
  };
  started = start();
  const handle = worker.client.workflow.getHandle((await started).workflowId);
  await handle.result();
  expect(asked).toHaveLength(32);
  const { historyLength } = await handle.describe();
  expect(historyLength).toBeLessThan(60);
});
