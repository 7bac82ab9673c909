// What the worker's effects need beyond the store.
import type { Dispatcher } from 'undici';
import type { WebhookUrlRules } from '../schemas/webhookUrl.js';
import type { Courtesy } from './courtesy.js';
import type { Store } from './deps.js';
import type { SecretBox } from './secrets.js';
import type { Starter } from './starter.js';
import type { Wallets } from './wallets/wallets.js';
import type { Lanes } from './webhooks/lanes.js';
import type { LogAttempt } from './webhooks/logAttempt.js';

export interface WorkerDeps extends Store {
  secrets: SecretBox;
  starter: Starter;
  webhookAgent: Dispatcher;
  urlPolicy: WebhookUrlRules;
  lanes: Lanes;
  courtesy: Courtesy;
  wallets: Wallets;
  /** Aborted when this worker stops: what could run for long hands back. */
  stopping: AbortSignal;
  /** Writes one attempt into the delivery log, together with whatever else is being logged. */
  logAttempt: LogAttempt;
}
