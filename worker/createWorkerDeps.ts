// Builds the dependencies of the worker's activities from the configuration.
import type { Logger } from 'pino';
import { createMarkPublished } from '../activities/events/markPublished.writes.js';
import { createMailer } from '../activities/mail/mailer.client.js';
import type { Wallets } from '../activities/wallets/wallets.client.js';
import { createBackground } from '../activities/webhooks/background.effect.js';
import { createDeliveryLimits } from '../activities/webhooks/deliveryLimits.effect.js';
import { createWebhookAgent } from '../activities/webhooks/guardedAgent.client.js';
import { createLogAttempt } from '../activities/webhooks/logAttempt.writes.js';
import type { WorkerDeps } from '../activities/workerDeps.js';
import type { ClosableDeps } from '../platform/createDeps.js';
import { createSecretBox } from '../platform/secretBox.js';
import type { WorkflowClient } from '../platform/temporal/workflowClient.js';
import { parseCidrs } from '../schemas/shared/addresses.rules.js';

const perSubscription = 32;
/** The share of the slots that retries never use. */
const partForFirst = 0.3;

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
    mailer: createMailer(config),
    secrets: createSecretBox(config),
    webhookAgent: createWebhookAgent({ ...urlPolicy, connectionsPerOrigin: config.WEBHOOK_SLOTS }),
    urlPolicy,
    deliveryLimits: createDeliveryLimits({
      perSubscription,
      total: config.WEBHOOK_SLOTS,
      reservedForFirst: Math.floor(config.WEBHOOK_SLOTS * partForFirst),
    }),
    background: createBackground(shutdownSignal),
    logAttempt: createLogAttempt(base),
    markPublished: createMarkPublished(base),
    shutdownSignal,
  };
}
