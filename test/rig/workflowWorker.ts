// The real workflow code on the real server, with activities that the test makes up: for the order of steps, retries and ends.
// Every workflow task is a replay (nothing is cached), and every execution is replayed once more at the end.
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { inject } from 'vitest';
import { type Activities, createActivities } from '../../activities/index.js';
import type { WorkerDeps } from '../../activities/workerDeps.js';
import { newId } from '../../schemas/ids.js';
import { taskQueues, type WorkflowInputs, type WorkflowName } from '../../schemas/workflows.js';
import { createWorkers } from '../../worker/createWorkers.js';
import { replaySince } from './service.js';

/** Changes between tests; a call of what is not there fails the attempt. */
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

/** Nothing is called here, so nothing is needed. */
const named = Object.keys(createActivities({} as WorkerDeps)) as (keyof Activities)[];

const namespace = 'default';

export interface WorkflowEngine {
  temporalAddress: string;
  /** The path of the bundle. */
  workflowBundle: string;
}

const engineOfTheRun = (): WorkflowEngine => ({
  temporalAddress: inject('temporalAddress'),
  workflowBundle: inject('workflowBundle'),
});

export async function startWorkflowWorker(
  { temporalAddress: address, workflowBundle }: WorkflowEngine = engineOfTheRun(),
): Promise<WorkflowWorker> {
  const startedAt = new Date();
  Runtime.install({ logger: new DefaultLogger('ERROR', () => {}), shutdownSignals: [] });
  const [connection, native] = await Promise.all([
    Connection.connect({ address }),
    NativeConnection.connect({ address }),
  ]);
  const client = new Client({ connection, namespace });
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
    connection: native,
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
      client.workflow.start(name, { workflowId, taskQueue: taskQueues.gestures, args: [input] }),
    async stop() {
      for (const worker of workers) worker.shutdown();
      await ended;
      await replaySince(client, startedAt, workflowBundle);
      await native.close();
      await connection.close();
    },
  };
}
