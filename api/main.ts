// The API process: wires, listens, and stops in order: no new requests, those in flight answered, then the connections.
import { createServer } from 'node:http';
import { createLog } from '../activities/log.js';
import { createMetrics, watchProcess } from '../activities/metrics/metrics.js';
import { serveMetrics } from '../activities/metrics/metricsServer.js';
import { readOutbox } from '../activities/metrics/readOutbox.js';
import { readConfigOrExit } from '../activities/readConfigOrExit.js';
import { createSecretBox } from '../activities/secrets.js';
import { openStore } from '../activities/store.js';
import { connectTemporal } from '../activities/temporalClient.js';
import { createTracing } from '../activities/tracing.js';
import { createWallets } from '../activities/wallets/wallets.js';
import { parseCidrs } from '../schemas/addresses.js';
import { createApp } from './app.js';
import { answerBrokenRequests } from './brokenRequests.js';
import { closingInOrder } from './closeInOrder.js';
import { createGestureRoom } from './gestureRoom.js';
import { createLimits } from './limits.js';
import { createUserTokens } from './userTokens.js';

const stopping = { lingerMs: 1_000, graceMs: 14_000 };

const config = readConfigOrExit();
const log = createLog(config, 'api');
const metrics = createMetrics();
watchProcess(metrics);
const wallets = await createWallets({ config, log });
const tracing = await createTracing({ config, log, process: 'api' });
const store = openStore({ config, log, metrics, tracing, walletModes: wallets.modes });
const { starter } = connectTemporal({ config, log });
const limits = createLimits({ config, log });
metrics.watch({ readOutbox: () => readOutbox(store), temporalPresent: starter.available });

const app = createApp({
  ...store,
  starter,
  limits,
  wallets,
  secrets: createSecretBox([config.SECRETS_KEY, config.SECRETS_KEY_PREVIOUS]),
  userTokens: createUserTokens(config),
  urlPolicy: { allowHttp: config.WEBHOOK_ALLOW_HTTP, allow: parseCidrs(config.WEBHOOK_ALLOW_CIDRS) },
  room: createGestureRoom(store),
});

const server = createServer({ requestTimeout: 120_000 }, app.callback());
answerBrokenRequests(server);
const close = closingInOrder(server);
server.listen(config.PORT, config.HOST, () => {
  log.info({ host: config.HOST, port: config.PORT }, 'api ready');
  process.send?.('ready');
});
server.on('error', (error) => {
  log.fatal({ err: error }, 'the API cannot listen');
  process.exit(1);
});

const metricsServer = await serveMetrics({
  metrics,
  log,
  host: config.HOST,
  port: config.METRICS_PORT,
  healthy: () => server.listening,
});

let asked = false;
async function stop(signal: string): Promise<void> {
  if (asked) return;
  asked = true;
  log.info({ signal }, 'stopping: no new requests, those in flight are answered');
  await close(stopping);
  await Promise.allSettled([
    metricsServer.close(),
    starter.close(),
    wallets.close(),
    limits.close(),
    store.close(),
    tracing.close(),
  ]);
  log.info('api stopped');
  process.exit(0);
}
process.once('SIGTERM', () => void stop('SIGTERM'));
process.once('SIGINT', () => void stop('SIGINT'));
process.once('disconnect', () => void stop('disconnect'));
