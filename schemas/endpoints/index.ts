// The table of all endpoints.
import { apiKeyEndpoints } from './apiKeys.js';
import { auditEndpoints } from './audit.js';
import { balanceEndpoints } from './balances.js';
import { batchEndpoints } from './batches.js';
import { campaignEndpoints } from './campaigns.js';
import type { Endpoint } from './endpoint.js';
import { feedEndpoints } from './feed.js';
import { memberEndpoints } from './members.js';
import { passEndpoints } from './passes.js';
import { programEndpoints } from './programs.js';
import { publicEndpoints } from './public.js';
import { roleEndpoints } from './roles.js';
import { scanEndpoints } from './scans.js';
import { statsEndpoints } from './stats.js';
import { userEndpoints } from './users.js';
import { webhookEndpoints } from './webhooks.js';

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
  ...feedEndpoints,
  ...campaignEndpoints,
  ...passEndpoints,
  ...statsEndpoints,
  ...auditEndpoints,
} satisfies Record<string, Endpoint>;

export type Endpoints = typeof endpoints;
export type EndpointName = keyof Endpoints;

/** The prefix of every path of the API. */
export const apiPrefix = '/api/v1';
