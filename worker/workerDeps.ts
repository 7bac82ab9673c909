// Wires what the worker's effects need. Nothing here decides anything.
import type { Logger } from 'pino';
import type { Store } from '../activities/deps.js';
import { gather } from '../activities/gather.js';
import { createSecretBox } from '../activities/secrets.js';
import type { Starter } from '../activities/starter.js';
import type { OpenStore } from '../activities/store.js';
import { type Statement, update, writeTogether } from '../activities/transact.js';
import type { Wallets } from '../activities/wallets/wallets.js';
import { createWebhookAgent } from '../activities/webhooks/guardedAgent.js';
import { createLanes } from '../activities/webhooks/lanes.js';
import type { DeliveryRecord, WorkerDeps } from '../activities/workerDeps.js';
import { parseCidrs } from '../schemas/addresses.js';

const lanes = { perSubscription: 32, total: 1_000, reservedForFirst: 300 };
const logTogether = { max: 200, atOnce: 1 };
const keptAttempts = 100;

export interface WorkerWiring {
  store: OpenStore;
  starter: Starter;
  log: Logger;
  wallets: Wallets;
  stopping: AbortSignal;
}

export function createWorkerDeps({ store, starter, wallets, log, stopping }: WorkerWiring): WorkerDeps {
  const { config } = store;
  const urlPolicy = { allowHttp: config.WEBHOOK_ALLOW_HTTP, allow: parseCidrs(config.WEBHOOK_ALLOW_CIDRS) };
  if (config.WEBHOOK_ALLOW_CIDRS)
    log.warn({ cidrs: config.WEBHOOK_ALLOW_CIDRS }, 'webhooks may be sent to these networks');
  const logAttempt = gather(async (records: DeliveryRecord[]) => {
    await writeTogether(
      store,
      records.flatMap((record) => statementsOf(store, record)),
    );
    return records.map(() => undefined);
  }, logTogether);
  return {
    ...store,
    starter,
    wallets,
    secrets: createSecretBox([config.SECRETS_KEY, config.SECRETS_KEY_PREVIOUS]),
    webhookAgent: createWebhookAgent({ ...urlPolicy, connectionsPerOrigin: lanes.total }),
    urlPolicy,
    lanes: createLanes(lanes),
    logAttempt,
    stopping,
  };
}

function statementsOf(store: Store, { deliveryId: _id, fence, set, attempt }: DeliveryRecord): Statement[] {
  const logged = { $inc: { attempts: 1 }, $push: { history: { $each: [attempt], $slice: -keptAttempts } } };
  if (set.success) return [update(store, 'deliveries', { _id }, { $set: set, ...logged })];
  const open = { _id, state: { $ne: 'succeeded' } };
  const [same, other] = fence === undefined ? [{ $exists: false }, { $exists: true }] : [fence, { $ne: fence }];
  return [
    update(store, 'deliveries', { ...open, fence: same }, { $set: set, ...logged }),
    update(store, 'deliveries', { ...open, fence: other }, logged),
  ];
}
