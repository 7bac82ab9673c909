// The dependencies that only a worker's effects need, in addition to `Deps`.
import type { Dispatcher } from 'undici';
import type { Deps } from '../platform/deps.js';
import type { SecretBox } from '../platform/secretBox.js';
import type { WorkflowClient } from '../platform/temporal/workflowClient.js';
import type { WebhookUrlRules } from '../schemas/webhooks/url.rules.js';
import type { SubscriptionRow } from '../schemas/webhooks/webhooks.rows.js';
import type { MarkPublished } from './events/markPublished.writes.js';
import type { Mailer } from './mail/mailer.client.js';
import type { Wallets } from './wallets/wallets.client.js';
import type { Background } from './webhooks/background.effect.js';
import type { DeliveryLimits } from './webhooks/deliveryLimits.effect.js';
import type { LogAttempt } from './webhooks/logAttempt.writes.js';

export interface WorkerDeps extends Deps {
  secrets: SecretBox;
  workflowClient: WorkflowClient;
  webhookAgent: Dispatcher;
  urlPolicy: WebhookUrlRules;
  deliveryLimits: DeliveryLimits;
  background: Background;
  wallets: Wallets;
  /** Null where no mail is sent. */
  mailer: Mailer | null;
  /** Aborted when this worker stops: long activities return early, and another worker continues their work. */
  shutdownSignal: AbortSignal;
  /** Writes one attempt to the delivery log. Concurrent calls share one write. */
  logAttempt: LogAttempt;
  markPublished: MarkPublished;
  /** Which subscriptions hear of what is published: for the demo's history, which is no news for others (stack/cafe). */
  isHeardBy?: (subscription: SubscriptionRow) => boolean;
}
