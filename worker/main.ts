// The worker process: hosts the workflows and activities, with one Temporal Worker for each task queue, and creates the
// schedules.
import { setFlagsFromString } from 'node:v8';
import { NativeConnection, type Worker } from '@temporalio/worker';
import { createActivities } from '../activities/index.js';
import { createWallets } from '../activities/wallets/wallets.client.js';
import { readConfigOrExit } from '../platform/config/loadConfig.js';
import { takeSettings } from '../platform/config/takeSettings.js';
import { createDeps } from '../platform/createDeps.js';
import { createLog } from '../platform/log.js';
import { createMetrics, watchProcess } from '../platform/metrics/metrics.js';
import { serveMetrics } from '../platform/metrics/metricsServer.js';
import { databaseNow } from '../platform/mongodb/databaseNow.js';
import { temporalConnectionOptions } from '../platform/temporal/connectionOptions.js';
import { connectTemporal } from '../platform/temporal/connectTemporal.js';
import { dataConverterOf } from '../platform/temporal/payloadCodec.js';
import { createTracing } from '../platform/tracing.js';
import { taskQueues } from '../schemas/tables/workflows.js';
import { createWorkerDeps } from './createWorkerDeps.js';
import { createWorkers } from './createWorkers.js';
import { dutiesOf, watchDuties } from './duties.js';
import { activityFields } from './interceptors.js';
import { installRuntime } from './runtime.js';
import { ensureSchedulesWhenUp, keepSchedules, prepare } from './schedules.js';
import { type PollWatch, watchPolls } from './watchPolls.js';
import { workflowBundle as makeBundle } from './workflowBundle.js';

// V8 collects garbage once the heap has grown by 30 % since the last collection. This keeps the worker at 300 MB
// instead of 460 MB at the peak of an import (docs/performance.md).
setFlagsFromString('--heap-growing-percent=30');

const config = readConfigOrExit();
const log = createLog(config, 'worker', { fields: activityFields });
const { sdkMetricsUrl } = await installRuntime(log);
const metrics = createMetrics();
watchProcess(metrics);

const wallets = await createWallets({ config, log });
takeSettings(config, { log, reopen: wallets.reopen });
const tracing = await createTracing({ config, log, process: 'worker' });
const base = createDeps({
  config,
  log,
  metrics,
  tracing,
  walletModes: wallets.modes,
  timeouts: 'worker',
});
const target = temporalConnectionOptions(config);
const { client, connection: clientConnection, workflowClient } = connectTemporal({ config, log, watch: false });
const stopper = new AbortController();
const { signal } = stopper;
const deps = createWorkerDeps({ base, workflowClient, wallets, log, shutdownSignal: signal });
const activities = createActivities(deps);

let workers: Worker[] = [];
let polls: PollWatch | undefined;
metrics.watchPolls(() => polls?.unpolled() ?? Object.keys(taskQueues).length);

function stop(asked: string): void {
  if (signal.aborted) return;
  log.info({ signal: asked }, 'stopping: no new work, what runs is finished or handed back');
  stopper.abort();
  for (const worker of workers) worker.shutdown();
  // It has no work yet.
  if (workers.length === 0) process.exit(0);
}
process.once('SIGTERM', () => stop('SIGTERM'));
process.once('SIGINT', () => stop('SIGINT'));
process.once('disconnect', () => stop('disconnect'));

const metricsServer = await serveMetrics({
  metrics,
  log,
  host: config.HOST,
  port: config.WORKER_METRICS_PORT ?? config.METRICS_PORT + 1,
  healthy: () => workers.length > 0 && workers.every((worker) => worker.getState() === 'RUNNING'),
  problems() {
    if (signal.aborted) return ['it is stopping'];
    return polls?.problems() ?? ['it is not connected to Temporal yet'];
  },
  sdkMetricsUrl,
});

async function connectNative(): Promise<NativeConnection> {
  for (;;) {
    try {
      return await NativeConnection.connect(target.connection);
    } catch (error) {
      log.warn({ err: error }, 'Temporal is unavailable; trying again');
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

const dataConverter = dataConverterOf(config);
const bundleKind = dataConverter.failureConverterPath === undefined ? 'plain' : 'encrypted';
const workflowBundle = await makeBundle(bundleKind);
const connection = await connectNative();

const { namespace } = target;
await prepare({ connection: clientConnection, namespace }, log);
workers = await createWorkers({ connection, namespace, workflowBundle, activities, dataConverter });

const running = Promise.all(workers.map((worker) => worker.run()));
polls = watchPolls({ connection, namespace, workers, log, signal });
const schedules = { wallets, startedAt: await databaseNow(base) };
await ensureSchedulesWhenUp(client, { ...schedules, log, signal });
const kept = keepSchedules(client, { ...schedules, connection: clientConnection, namespace, log, signal });
// After the schedules, which earlier versions had for duties.
const watched = watchDuties(deps, { duties: dutiesOf(deps), signal });
log.info({ taskQueues: Object.values(taskQueues) }, 'worker ready');
process.send?.('ready');

await running;
await kept;
await watched;
await polls.ended;
await deps.background.close();
await metricsServer.close();
await wallets.close();
await connection.close();
await workflowClient.close();
await base.close();
await tracing.close();
log.info('worker stopped');
process.exit(0);
