// The dependencies of the API's routes: `Deps`, and what only the API needs.

import type { NewRequest } from '../../activities/stats/requests.writes.js';
import type { Wallets } from '../../activities/wallets/wallets.client.js';
import type { Deps } from '../../platform/deps.js';
import type { SecretBox } from '../../platform/secretBox.js';
import type { WorkflowClient } from '../../platform/temporal/workflowClient.js';
import type { ApiKeyRow } from '../../schemas/access/access.rows.js';
import type { ReaderRow } from '../../schemas/till/till.rows.js';
import type { WebhookUrlRules } from '../../schemas/webhooks/url.rules.js';
import type { PushWaits } from '../members/pushWaits.reads.js';
import type { Admission } from './admission.js';
import type { LargeRequests } from './largeRequests.js';
import type { Limits } from './limits.js';
import type { Oidc } from './oidc.client.js';
import type { RequestQueue } from './requestQueue.js';
import type { UserTokens } from './userTokens.client.js';

export interface ApiDeps extends Deps {
  workflowClient: WorkflowClient;
  secrets: SecretBox;
  limits: Limits;
  wallets: Wallets;
  userTokens: UserTokens;
  /** Null where no OpenID provider is configured. */
  oidc: Oidc | null;
  noteKeyUse: (key: ApiKeyRow) => void;
  noteReader: (reader: ReaderRow) => void;
  /** The log of requests. */
  requestLog: RequestQueue<NewRequest>;
  urlPolicy: WebhookUrlRules;
  admission: Admission;
  pushWaits: PushWaits;
  /** Requests with large bodies, and dry runs. */
  largeRequests: LargeRequests;
  /** Exports of members, and answers of large dry runs; apart from the others, because a reader may be slow. */
  exports: LargeRequests;
}
