// The worker process: hosts the workflows and the activities, one Worker for each task queue, and owns the relay's schedules.
import { setFlagsFromString } from 'node:v8';
import { NativeConnection } from '@temporalio/worker';
import { createActivities } from '../activities/index.js';
import { createLog } from '../activities/log.js';
import { createMetrics, watchProcess } from '../activities/metrics/metrics.js';
import { serveMetrics } from '../activities/metrics/metricsServer.js';
import { readConfigOrExit } from '../activities/readConfigOrExit.js';
import { openStore } from '../activities/store.js';
import { connectTemporal } from '../activities/temporalClient.js';
import { temporalTarget } from '../activities/temporalTarget.js';
import { createTracing } from '../activities/tracing.js';
import { createWallets } from '../activities/wallets/wallets.js';
import { taskQueues } from '../schemas/workflows.js';
import { createWorkers } from './createWorkers.js';
import { activityFields } from './interceptors.js';
import { installRuntime } from './runtime.js';
import { ensureSchedules } from './schedules.js';
import { createWorkerDeps } from './workerDeps.js';
import { workflowBundle as makeBundle } from './workflowBundle.js';

// What a bulk leaves behind is collected once it is a third of what lives, and not as much again: 300 MB instead of 460 at
// the peak of an import (docs/performance.md).
setFlagsFromString('--heap-growing-percent=30');

const config = readConfigOrExit();
const log = createLog(config, 'worker', { fields: activityFields });
const { sdkMetricsUrl } = await installRuntime(log);
const metrics = createMetrics();
watchProcess(metrics);

const wallets = await createWallets({ config, log });
const tracing = await createTracing({ config, log, process: 'worker' });
const store = openStore({
  config,
  log,
  metrics,
  tracing,
  walletModes: wallets.modes,
  patience: 'worker',
});
const target = temporalTarget(config);
const { client, starter } = connectTemporal({ config, log, watch: false });
const stopper = new AbortController();
const deps = createWorkerDeps({ store, starter, wallets, log, stopping: stopper.signal });
const activities = createActivities(deps);

async function connectNative(): Promise<NativeConnection> {
  for (;;) {
    try {
      return await NativeConnection.connect(target.connection);
    } catch (error) {
      log.warn({ err: error }, 'Temporal is away; trying again');
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

const [connection, workflowBundle] = await Promise.all([connectNative(), makeBundle()]);

const workers = await createWorkers({ connection, namespace: target.namespace, workflowBundle, activities });

const metricsServer = await serveMetrics({
  metrics,
  log,
  host: config.HOST,
  port: config.WORKER_METRICS_PORT ?? config.METRICS_PORT + 1,
  healthy: () => workers.every((worker) => worker.getState() === 'RUNNING'),
  sdkMetricsUrl,
});

let stopping = false;
function stop(signal: string): void {
  if (stopping) return;
  stopping = true;
  log.info({ signal }, 'stopping: no new work, what runs is finished or handed back');
  stopper.abort();
  for (const worker of workers) worker.shutdown();
}
process.once('SIGTERM', () => stop('SIGTERM'));
process.once('SIGINT', () => stop('SIGINT'));
process.once('disconnect', () => stop('disconnect'));

const running = Promise.all(workers.map((worker) => worker.run()));
await ensureSchedules(client, { relayShards: config.RELAY_SHARDS, wallets });
log.info({ taskQueues: Object.values(taskQueues) }, 'worker ready');
process.send?.('ready');

await running;
await metricsServer.close();
await wallets.close();
await connection.close();
await starter.close();
await store.close();
await tracing.close();
log.info('worker stopped');
process.exit(0);
