// Wires what the worker's effects need. Nothing here decides anything.
import type { Logger } from 'pino';
import { createCourtesy } from '../activities/courtesy.js';
import { createSecretBox } from '../activities/secrets.js';
import type { Starter } from '../activities/starter.js';
import type { OpenStore } from '../activities/store.js';
import type { Wallets } from '../activities/wallets/wallets.js';
import { createWebhookAgent } from '../activities/webhooks/guardedAgent.js';
import { createLanes } from '../activities/webhooks/lanes.js';
import { createLogAttempt } from '../activities/webhooks/logAttempt.js';
import type { WorkerDeps } from '../activities/workerDeps.js';
import { parseCidrs } from '../schemas/addresses.js';

const lanes = { perSubscription: 32, total: 1_000, reservedForFirst: 300 };

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
  return {
    ...store,
    starter,
    wallets,
    secrets: createSecretBox([config.SECRETS_KEY, config.SECRETS_KEY_PREVIOUS]),
    webhookAgent: createWebhookAgent({ ...urlPolicy, connectionsPerOrigin: lanes.total }),
    urlPolicy,
    lanes: createLanes(lanes),
    courtesy: createCourtesy(store),
    logAttempt: createLogAttempt(store),
    stopping,
  };
}
