// What the worker's effects need beyond the store.
import type { Dispatcher } from 'undici';
import type { DeliveryRow } from '../schemas/collections.js';
import type { WebhookUrlRules } from '../schemas/webhookUrl.js';
import type { Store } from './deps.js';
import type { SecretBox } from './secrets.js';
import type { Starter } from './starter.js';
import type { Wallets } from './wallets/wallets.js';
import type { Lanes } from './webhooks/lanes.js';

export interface DeliveryRecord {
  deliveryId: string;
  /**
   * The delivery's fence as it was when the attempt began. A failure says how the delivery stands only while that is still
   * so; it is in the log either way, unless the delivery succeeded meanwhile. A success says it always.
   */
  fence: string | undefined;
  set: Partial<DeliveryRow>;
  attempt: DeliveryRow['history'][number];
}

export interface WorkerDeps extends Store {
  secrets: SecretBox;
  starter: Starter;
  webhookAgent: Dispatcher;
  urlPolicy: WebhookUrlRules;
  lanes: Lanes;
  wallets: Wallets;
  /** Aborted when this worker stops: what could run for long hands back. */
  stopping: AbortSignal;
  /** Writes one attempt into the delivery log, together with whatever else is being logged. */
  logAttempt: (record: DeliveryRecord) => Promise<void>;
}
