// The table of all endpoints.
import { apiKeyEndpoints } from '../access/apiKeys.routes.js';
import { auditEndpoints } from '../access/audit.routes.js';
import type { Endpoint } from '../access/endpoint.schema.js';
import { roleEndpoints } from '../access/roles.routes.js';
import { userEndpoints } from '../access/users.routes.js';
import { automaticMessageEndpoints } from '../batches/automaticMessages.routes.js';
import { batchEndpoints } from '../batches/batches.routes.js';
import { campaignEndpoints } from '../batches/campaigns.routes.js';
import { cardMailEndpoints } from '../batches/cardMails.routes.js';
import { feedEndpoints } from '../events/feed.routes.js';
import { publicEndpoints } from '../members/enrollment.routes.js';
import { memberEndpoints } from '../members/members.routes.js';
import { balanceEndpoints } from '../points/balances.routes.js';
import { programEndpoints } from '../programs/programs.routes.js';
import { requestEndpoints } from '../stats/requests.routes.js';
import { statsEndpoints } from '../stats/stats.routes.js';
import { readerEndpoints } from '../till/readers.routes.js';
import { scanEndpoints } from '../till/scans.routes.js';
import { tillEndpoints } from '../till/till.routes.js';
import { passEndpoints } from '../wallets/passes.routes.js';
import { webhookEndpoints } from '../webhooks/webhooks.routes.js';

export const endpoints = {
  ...apiKeyEndpoints,
  ...roleEndpoints,
  ...userEndpoints,
  ...programEndpoints,
  ...memberEndpoints,
  ...balanceEndpoints,
  ...batchEndpoints,
  ...webhookEndpoints,
  ...publicEndpoints,
  ...scanEndpoints,
  ...readerEndpoints,
  ...tillEndpoints,
  ...feedEndpoints,
  ...cardMailEndpoints,
  ...campaignEndpoints,
  ...automaticMessageEndpoints,
  ...passEndpoints,
  ...statsEndpoints,
  ...requestEndpoints,
  ...auditEndpoints,
} satisfies Record<string, Endpoint>;

export type Endpoints = typeof endpoints;
export type EndpointName = keyof Endpoints;

/** The prefix of every path of the API. */
export const apiPrefix = '/api/v1';
