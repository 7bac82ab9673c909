// A whole service in the test's own process: the real app on a real port, the real worker, a database of its own. What a test
// starts in Temporal is replayed against today's workflow code when the file ends.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import pino from 'pino';
import { inject } from 'vitest';
import { createActivities } from '../../activities/index.js';
import { createSecretBox } from '../../activities/secrets.js';
import { createStarter } from '../../activities/starter.js';
import { type OpenStore, openStore } from '../../activities/store.js';
import { temporalTarget } from '../../activities/temporalTarget.js';
import { createTracing } from '../../activities/tracing.js';
import { createWallets } from '../../activities/wallets/wallets.js';
import { createApp } from '../../api/app.js';
import { answerBrokenRequests } from '../../api/brokenRequests.js';
import { createGestureRoom } from '../../api/gestureRoom.js';
import { createLimits } from '../../api/limits.js';
import { createUserTokens } from '../../api/userTokens.js';
import { parseCidrs } from '../../schemas/addresses.js';
import { readConfig } from '../../schemas/config.js';
import { newId } from '../../schemas/ids.js';
import { createWorkers } from '../../worker/createWorkers.js';
import { migrate } from '../../worker/migrate.js';
import { ensureRelays } from '../../worker/schedules.js';
import { createWorkerDeps } from '../../worker/workerDeps.js';

export const jwtSecret = 'a-console-secret-for-tests-only-0123456789';

export interface TestService {
  /** With the prefix `/api/v1`. */
  baseUrl: string;
  publicUrl: string;
  store: OpenStore;
  client: Client;
  /** Ends the worker and starts another, as after a crash. */
  stopWorker: () => Promise<void>;
  startWorker: () => Promise<void>;
  stop: () => Promise<void>;
}

export interface ServiceOptions {
  env?: Record<string, string>;
  worker?: boolean;
  /** Histories of the file's executions are replayed at the end; a reason is needed to leave it out. */
  replay?: boolean;
}

const runtimeLogger = new DefaultLogger('ERROR', () => {});
let runtimeInstalled = false;

/** Once in a process, whatever number of services a file starts. */
function installRuntime(): void {
  if (runtimeInstalled) return;
  runtimeInstalled = true;
  Runtime.install({ logger: runtimeLogger, shutdownSignals: [] });
}

export async function startService(options: ServiceOptions = {}): Promise<TestService> {
  const startedAt = new Date();
  installRuntime();
  // Longer than any client keeps an idle connection: no request may meet one that is just being closed.
  const server = createServer({ keepAliveTimeout: 120_000 });
  answerBrokenRequests(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const publicUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = readConfig({
    MONGODB_URI: inject('mongodbUri'),
    MONGODB_DATABASE: `test-${newId()}`,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    PUBLIC_URL: publicUrl,
    CONSOLE_JWT_SECRET: jwtSecret,
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
    RATE_LIMIT_AUTHENTICATED: '1000000',
    RATE_LIMIT_PUBLIC: '1000000',
    RELAY_SHARDS: '1',
    LOG_LEVEL: 'silent',
    // The longest: a machine that stalls is no outage.
    PASS_UPDATE_WAIT_MS: '8000',
    ...options.env,
  });
  const log = pino({ level: process.env.TEST_LOG_LEVEL ?? config.LOG_LEVEL });
  const wallets = await createWallets({ config, log });
  const tracing = await createTracing({ config, log, process: 'api' });
  const store = openStore({ config, log, tracing, walletModes: wallets.modes, patience: 'tool' });
  await migrate(store);

  const target = temporalTarget(config);
  const connection = await Connection.connect(target.connection);
  const client = new Client({ connection, namespace: target.namespace });
  const starter = createStarter({ client, connection, log });
  const limits = createLimits({ config, log });
  const app = createApp({
    ...store,
    starter,
    limits,
    wallets,
    secrets: createSecretBox([config.SECRETS_KEY]),
    userTokens: createUserTokens(config),
    urlPolicy: { allowHttp: config.WEBHOOK_ALLOW_HTTP, allow: parseCidrs(config.WEBHOOK_ALLOW_CIDRS) },
    room: createGestureRoom(store),
  });
  server.on('request', app.callback());

  const native = await NativeConnection.connect(target.connection);
  let running: { workers: Worker[]; stopper: AbortController; ended: Promise<unknown> } | null = null;
  const startWorker = async () => {
    const stopper = new AbortController();
    const activities = createActivities(createWorkerDeps({ store, starter, wallets, log, stopping: stopper.signal }));
    const workers = await createWorkers({
      connection: native,
      namespace: target.namespace,
      workflowBundle: { codePath: inject('workflowBundle') },
      activities,
    });
    running = { workers, stopper, ended: Promise.all(workers.map((worker) => worker.run())) };
  };
  const stopWorker = async () => {
    running?.stopper.abort();
    for (const worker of running?.workers ?? []) worker.shutdown();
    await running?.ended;
    running = null;
  };
  if (options.worker !== false) {
    await startWorker();
    await ensureRelays(client, config.RELAY_SHARDS);
  }
  await until(() => starter.available());

  return {
    baseUrl: `${publicUrl}/api/v1`,
    publicUrl,
    store,
    client,
    startWorker,
    stopWorker,
    async stop() {
      await closeServer(server);
      await stopWorker();
      if (options.replay !== false) await replaySince(client, startedAt);
      await native.close();
      await wallets.close();
      await limits.close();
      await starter.close();
      await store.mongo.db(config.MONGODB_DATABASE).dropDatabase();
      await store.close();
      await tracing.close();
    },
  };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Every execution since then must replay with today's code; one that does not fails the file. */
export async function replaySince(client: Client, since: Date, codePath = inject('workflowBundle')): Promise<number> {
  const histories = client.workflow
    .list({ query: `StartTime >= "${since.toISOString()}" AND WorkflowType NOT STARTS_WITH "temporal"` })
    .intoHistories({ concurrency: 8 });
  let replayed = 0;
  const results = Worker.runReplayHistories({ workflowBundle: { codePath } }, histories);
  for await (const { workflowId, error } of results) {
    if (error) throw new Error(`${workflowId} does not replay: ${error.message}`, { cause: error });
    replayed += 1;
  }
  return replayed;
}

/** Asks until the answer is truthy. Throws after `withinMs`, a minute: a machine that stalls fails no test. */
export async function until<T>(
  ask: () => T | Promise<T>,
  withinMs = 60_000,
): Promise<Exclude<T, false | null | undefined>> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer) return answer as Exclude<T, false | null | undefined>;
    if (Date.now() > deadline) throw new Error(`It did not come true within ${withinMs} ms.`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
