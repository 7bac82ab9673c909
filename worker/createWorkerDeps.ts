// Builds the dependencies of the worker's activities from the configuration.
import type { Logger } from 'pino';
import type { Wallets } from '../activities/wallets/wallets.js';
import { createDeliveryLimits } from '../activities/webhooks/deliveryLimits.js';
import { createWebhookAgent } from '../activities/webhooks/guardedAgent.js';
import { createLogAttempt } from '../activities/webhooks/logAttempt.js';
import type { WorkerDeps } from '../activities/workerDeps.js';
import type { ClosableDeps } from '../platform/createDeps.js';
import { createSecretBox } from '../platform/secretBox.js';
import type { WorkflowClient } from '../platform/temporal/workflowClient.js';
import { parseCidrs } from '../schemas/addresses.js';

const deliveryLimits = { perSubscription: 32, total: 1_000, reservedForFirst: 300 };

export interface WorkerWiring {
  base: ClosableDeps;
  workflowClient: WorkflowClient;
  log: Logger;
  wallets: Wallets;
  shutdownSignal: AbortSignal;
}

export function createWorkerDeps({ base, workflowClient, wallets, log, shutdownSignal }: WorkerWiring): WorkerDeps {
  const { config } = base;
  const urlPolicy = { allowHttp: config.WEBHOOK_ALLOW_HTTP, allow: parseCidrs(config.WEBHOOK_ALLOW_CIDRS) };
  if (config.WEBHOOK_ALLOW_CIDRS)
    log.warn({ cidrs: config.WEBHOOK_ALLOW_CIDRS }, 'webhooks may be sent to these networks');
  return {
    ...base,
    workflowClient,
    wallets,
    secrets: createSecretBox(config),
    webhookAgent: createWebhookAgent({ ...urlPolicy, connectionsPerOrigin: deliveryLimits.total }),
    urlPolicy,
    deliveryLimits: createDeliveryLimits(deliveryLimits),
    logAttempt: createLogAttempt(base),
    shutdownSignal,
  };
}
