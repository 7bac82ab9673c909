// The API process: it listens until it is stopped, then accepts no new requests, answers the requests in flight, and
// closes its connections.

import { countStaleDevices, readDeliveries, readEvents, readLastBackup } from '../activities/events/outbox.reads.js';
import { readConfigOrExit } from '../platform/config/loadConfig.js';
import { takeSettings } from '../platform/config/takeSettings.js';
import { createLog } from '../platform/log.js';
import { createMetrics, watchProcess } from '../platform/metrics/metrics.js';
import { serveMetrics } from '../platform/metrics/metricsServer.js';
import { createCodecEndpoint } from '../platform/temporal/codecEndpoint.js';
import { configExitCode } from '../schemas/shared/config.schema.js';
import { createApi } from './createApi.js';
import { createGracefulShutdown } from './http/gracefulShutdown.js';
import { backlog } from './http/serverOptions.js';

const stopping = { lingerMs: 3_000, graceMs: 14_000 };

const config = readConfigOrExit();
const log = createLog(config, 'api');
const metrics = createMetrics();
watchProcess(metrics);
const { server, deps, wallets, workflowClient, close } = await createApi({ config, log, metrics });
metrics.watch({
  readEvents: () => readEvents(deps),
  readDeliveries: () => readDeliveries(deps),
  countStaleDevices: () => countStaleDevices(deps),
  readLastBackup: () => readLastBackup(deps),
  pingMongodb: () => deps.mongo.db(config.MONGODB_DATABASE).command({ ping: 1 }),
  temporalAvailable: workflowClient.available,
  certificatesEndAt: () => wallets.appleEndsAt,
});

takeSettings(config, { log, reopen: wallets.reopen });

const closeServer = createGracefulShutdown(server);
server.listen({ port: config.PORT, host: config.HOST, backlog }, () => {
  log.info({ host: config.HOST, port: config.PORT }, 'api ready');
  process.send?.('ready');
});
server.on('error', (error: NodeJS.ErrnoException) => {
  const isHost = ['ENOTFOUND', 'EADDRNOTAVAIL'].includes(error.code ?? '');
  log.fatal({ err: error }, isHost ? 'HOST is no address of this machine' : 'the API cannot listen');
  process.exit(isHost ? configExitCode : 1);
});

const metricsServer = await serveMetrics({
  metrics,
  log,
  host: config.HOST,
  port: config.METRICS_PORT,
  healthy: () => server.listening,
  codec: createCodecEndpoint(config),
});

let asked = false;
async function stop(signal: string): Promise<void> {
  if (asked) return;
  asked = true;
  log.info({ signal }, 'stopping: no new requests, those in flight are answered');
  await closeServer(stopping);
  await Promise.allSettled([metricsServer.close(), close()]);
  log.info('api stopped');
  process.exit(0);
}
process.once('SIGTERM', () => void stop('SIGTERM'));
process.once('SIGINT', () => void stop('SIGINT'));
process.once('disconnect', () => void stop('disconnect'));
