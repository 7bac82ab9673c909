// A whole service in the process of the test: the real API on a real port, the real worker and a separate database. At
// the end of the file its workflow executions are replayed against the current workflow code.
import { mkdir, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { join } from 'node:path';
import type { Client, HistoryAndWorkflowId, WorkflowHandle } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { NativeConnection, type Worker } from '@temporalio/worker';
import { inject } from 'vitest';
import { createActivities } from '../../../activities/index.js';
import { createApi } from '../../../api/createApi.js';
import { backlog } from '../../../api/http/serverOptions.js';
import type { ClosableDeps } from '../../../platform/createDeps.js';
import { createLog } from '../../../platform/log.js';
import { temporalConnectionOptions } from '../../../platform/temporal/connectionOptions.js';
import { dataConverterOf } from '../../../platform/temporal/payloadCodec.js';
import { readConfig } from '../../../schemas/shared/config.schema.js';
import { newId } from '../../../schemas/shared/ids.js';
import { findPort } from '../../../stack/ports.js';
import { createWorkerDeps } from '../../../worker/createWorkerDeps.js';
import { createWorkers } from '../../../worker/createWorkers.js';
import { relays, watchDuties } from '../../../worker/duties.js';
import { migrate } from '../../../worker/migrate.js';
import { failureLog } from '../checks/failureLog.js';
import { replayed } from '../checks/replayed.js';
import { expectNoScans } from '../checks/scans.js';
import { auditSeen, noteSeen } from '../checks/seenOperations.js';
import { until } from '../checks/until.js';
import { expectTakenByMongodb } from '../mongodb/sentCommands.js';
import { forkEngines } from './forkEngines.js';
import { forgetContexts, installRuntime } from './temporalRuntime.js';

export const jwtSecret = 'a-console-secret-for-tests-only-0123456789';

export interface TestService {
  /** With the prefix `/api/v1`. */
  baseUrl: string;
  publicUrl: string;
  deps: ClosableDeps;
  client: Client;
  /** Stops the worker; `startWorker` starts another one, as after a restart. */
  stopWorker: () => Promise<void>;
  startWorker: () => Promise<void>;
  stop: () => Promise<void>;
}

export interface ServiceOptions {
  env?: Record<string, string>;
  worker?: boolean;
  /**
   * Whether the executions are replayed at the end (default: true). A test that sets false gives the reason in a
   * comment.
   */
  replay?: boolean;
  /** The MongoDB timeouts; by default those that a slow machine does not exceed. */
  patience?: 'caller';
  /** The clock of API and worker. */
  now?: () => Date;
  /** Path of the workflow bundle; by default that of the run. */
  workflowBundle?: string;
}

export async function startService(options: ServiceOptions = {}): Promise<TestService> {
  const startedAt = new Date();
  installRuntime();
  const port = await findPort('127.0.0.1');
  const publicUrl = `http://127.0.0.1:${port}`;
  const engines = forkEngines();
  const config = readConfig({
    MONGODB_URI: engines.mongodbUri,
    MONGODB_EMBEDDED: String(engines.mongodbEmbedded),
    MONGODB_DATABASE: `test-${newId()}`,
    TEMPORAL_ADDRESS: engines.temporalAddress,
    PUBLIC_URL: publicUrl,
    CONSOLE_JWT_SECRET: jwtSecret,
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
    RATE_LIMIT_AUTHENTICATED: '1000000',
    RATE_LIMIT_PUBLIC: '1000000',
    WALLET_REGISTRATIONS_PER_PASS: '1000000',
    WALLET_CALLS_PER_ADDRESS: '1000000',
    RELAY_SHARDS: '1',
    ERASURE_LAST_RUN_MS: '1000',
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'debug',
    // The longest value allowed, so that a slow machine does not end the wait.
    PASS_UPDATE_WAIT_MS: '8000',
    ...options.env,
  });
  const log = createLog(config, 'test', process.env.TEST_LOG_LEVEL ? {} : { destination: failureLog });
  const { server, deps, wallets, workflowClient, temporal, close } = await createApi({
    config,
    log,
    patience: options.patience ?? 'tool',
    ...(options.now && { now: options.now }),
  });
  await migrate(deps);
  await new Promise<void>((resolve) => server.listen({ port, host: '127.0.0.1', backlog }, resolve));

  const target = temporalConnectionOptions(config);
  const codePath = options.workflowBundle ?? inject('workflowBundle');
  const dataConverter = dataConverterOf(config);
  const native = await NativeConnection.connect(target.connection);
  let running: { workers: Worker[]; stopper: AbortController; ended: Promise<unknown> } | null = null;
  const startWorker = async () => {
    const stopper = new AbortController();
    const workerDeps = createWorkerDeps({ base: deps, workflowClient, wallets, log, shutdownSignal: stopper.signal });
    const activities = createActivities(workerDeps);
    const workers = await createWorkers({
      connection: native,
      namespace: target.namespace,
      workflowBundle: { codePath },
      activities,
      dataConverter,
    });
    running = {
      workers,
      stopper,
      ended: Promise.all([
        ...workers.map((worker) => worker.run()),
        watchDuties(workerDeps, { duties: relays(config.RELAY_SHARDS), signal: stopper.signal }),
      ]).then(workerDeps.background.close),
    };
  };
  const stopWorker = async () => {
    running?.stopper.abort();
    for (const worker of running?.workers ?? []) worker.shutdown();
    await running?.ended;
    running = null;
  };
  if (options.worker !== false) await startWorker();
  // While workflows that an earlier file left behind wait for a worker, changes get no workflow of their own.
  const hasRoom = () => options.worker === false || workflowClient.backlogMs() === 0;
  await until(() => workflowClient.available() && hasRoom());

  return {
    baseUrl: `${publicUrl}/api/v1`,
    publicUrl,
    deps,
    client: temporal,
    startWorker,
    stopWorker,
    async stop() {
      await closeServer(server);
      await stopWorker();
      if (options.replay !== false) await replaySince(temporal, startedAt, codePath, dataConverter);
      await native.close();
      forgetContexts(native);
      for (const action of await deps.collections.audit.distinct('action')) noteSeen(auditSeen(action));
      const database = deps.mongo.db(config.MONGODB_DATABASE);
      const scanned = await expectNoScans(database).catch((error: unknown) => error);
      await database.dropDatabase();
      await close();
      if (scanned) throw scanned;
      expectTakenByMongodb();
    },
  };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** How many closed executions with the same steps a fork replays. */
const mostAlike = 5;
const alike = new Map<string, number>();

/** The types of all events in their order, with the names of activities and of updates. */
const stepsOf = ({ events }: Awaited<ReturnType<WorkflowHandle['fetchHistory']>>): string =>
  (events ?? [])
    .map(
      ({
        eventType,
        activityTaskScheduledEventAttributes: activity,
        workflowExecutionUpdateAcceptedEventAttributes: update,
      }) => [eventType, activity?.activityType?.name, update?.acceptedRequest?.input?.name].join(':'),
    )
    .join(' ');

/** The histories of the executions, except those whose steps this fork has replayed often enough. */
async function historiesOf(client: Client, query: string, code: string): Promise<HistoryAndWorkflowId[]> {
  const histories: HistoryAndWorkflowId[] = [];
  for await (const { workflowId, runId, type, status } of client.workflow.list({ query })) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    // One whose start is delayed has nothing to replay yet, and the replay would wait for it.
    if (!history.events?.some((event) => event.workflowTaskCompletedEventAttributes)) continue;
    const steps = [code, type, stepsOf(history)].join(' ');
    const before = alike.get(steps) ?? 0;
    if (before >= mostAlike && status.name !== 'RUNNING') continue;
    alike.set(steps, before + 1);
    histories.push({ workflowId, history });
  }
  return histories;
}

/**
 * Replays the executions since then with the current workflow code, except those whose steps this fork has replayed
 * often enough. Throws when one does not replay; its history is then stored in test-results.
 */
export async function replaySince(
  client: Client,
  since: Date,
  codePath = inject('workflowBundle'),
  dataConverter?: DataConverter,
): Promise<number> {
  const query = `StartTime >= "${since.toISOString()}" AND WorkflowType NOT STARTS_WITH "temporal"`;
  const code = `${codePath} ${dataConverter?.payloadCodecs !== undefined}`;
  const histories = await historiesOf(client, query, code);
  if (histories.length === 0) return 0;
  let count = 0;
  const options = { workflowBundle: { codePath }, ...(dataConverter && { dataConverter }) };
  for await (const { workflowId, runId, error } of replayed(options, histories)) {
    if (error) {
      const file = await keepHistory(client, { workflowId, runId });
      throw new Error(`${workflowId} does not replay: ${error.message} (its history: ${file})`, { cause: error });
    }
    count += 1;
  }
  return count;
}

const historyDir = 'test-results/histories';

async function keepHistory(client: Client, at: { workflowId: string; runId: string }): Promise<string> {
  const history = await client.workflow.getHandle(at.workflowId, at.runId).fetchHistory();
  await mkdir(historyDir, { recursive: true });
  const file = join(historyDir, `${at.workflowId.replaceAll(/[^\w.-]/g, '_')}.json`);
  await writeFile(file, historyToJSON(history));
  return file;
}
