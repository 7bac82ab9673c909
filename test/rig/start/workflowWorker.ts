// Runs the real workflow code on the real server with fake activities, for tests of order, retries and results. Nothing
// is cached, so every workflow task is a replay, and every execution is replayed once more at the end.
import type { Client } from '@temporalio/client';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { inject } from 'vitest';
import { type Activities, createActivities } from '../../../activities/index.js';
import type { WorkerDeps } from '../../../activities/workerDeps.js';
import { workflowTaskTimeout } from '../../../platform/temporal/workflowClient.js';
import { newId } from '../../../schemas/shared/ids.js';
import { taskQueues, type WorkflowInputs, type WorkflowName } from '../../../schemas/tables/workflows.js';
import { createWorkers } from '../../../worker/createWorkers.js';
import { forkEngines } from './forkEngines.js';
import { replaySince } from './service.js';
import { forgetContexts, installRuntime } from './temporalRuntime.js';

/** Tests replace the fakes between runs; a call of an activity without a fake fails the attempt. */
export type FakeActivities = Partial<Activities>;

export interface WorkflowWorker {
  client: Client;
  fakes: FakeActivities;
  start: <N extends WorkflowName>(
    name: N,
    input: WorkflowInputs[N],
    workflowId?: string,
  ) => ReturnType<Client['workflow']['start']>;
  stop: () => Promise<void>;
}

/** Only the names are read and nothing is called, so no dependencies are needed. */
const named = Object.keys(createActivities({} as WorkerDeps)) as (keyof Activities)[];

const namespace = 'default';

export interface WorkflowEngine {
  temporalAddress: string;
  /** Path of the workflow bundle. */
  workflowBundle: string;
}

const engineOfTheRun = (): WorkflowEngine => ({
  temporalAddress: forkEngines().temporalAddress,
  workflowBundle: inject('workflowBundle'),
});

export async function startWorkflowWorker(
  { temporalAddress: address, workflowBundle }: WorkflowEngine = engineOfTheRun(),
): Promise<WorkflowWorker> {
  const startedAt = new Date();
  installRuntime();
  const environment = await TestWorkflowEnvironment.createFromExistingServer({ address, namespace });
  const { client, nativeConnection } = environment;
  const fakes: FakeActivities = {};
  const activities = Object.fromEntries(
    named.map((name) => [
      name,
      (input: never) => {
        const fake = fakes[name] as ((input: never) => unknown) | undefined;
        if (!fake) throw new Error(`The test has no ${name}.`);
        return fake(input);
      },
    ]),
  ) as Activities;
  const workers = await createWorkers({
    connection: nativeConnection,
    namespace,
    workflowBundle: { codePath: workflowBundle },
    activities,
    maxCachedWorkflows: 0,
  });
  const ended = Promise.all(workers.map((worker) => worker.run()));

  return {
    client,
    fakes,
    start: (name, input, workflowId = `${name}:${newId()}`) =>
      client.workflow.start(name, { workflowId, taskQueue: taskQueues.workflows, args: [input], workflowTaskTimeout }),
    async stop() {
      for (const worker of workers) worker.shutdown();
      await ended;
      await replaySince(client, startedAt, workflowBundle);
      await environment.teardown();
      forgetContexts(nativeConnection);
    },
  };
}
