// The routes of all endpoints. A missing or an extra route does not compile.
import type { Routes } from '../request.js';
import { apiKeyRoutes } from './apiKeys.js';
import { auditRoutes } from './audit.js';
import { balanceRoutes } from './balances.js';
import { batchRoutes } from './batches.js';
import { campaignRoutes } from './campaigns.js';
import { changeRoutes } from './changes.js';
import { feedRoutes } from './feed.js';
import { importRoutes } from './imports.js';
import { memberRoutes } from './members.js';
import { passRoutes } from './passes.js';
import { programRoutes } from './programs.js';
import { publicRoutes } from './public.js';
import { roleRoutes } from './roles.js';
import { scanRoutes } from './scans.js';
import { statsRoutes } from './stats.js';
import { userRoutes } from './users.js';
import { webhookRoutes } from './webhooks.js';

export const routes: Routes = {
  ...apiKeyRoutes,
  ...roleRoutes,
  ...userRoutes,
  ...programRoutes,
  ...memberRoutes,
  ...changeRoutes,
  ...balanceRoutes,
  ...importRoutes,
  ...batchRoutes,
  ...webhookRoutes,
  ...publicRoutes,
  ...scanRoutes,
  ...feedRoutes,
  ...campaignRoutes,
  ...passRoutes,
  ...statsRoutes,
  ...auditRoutes,
};
