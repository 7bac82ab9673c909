// The routes of all endpoints. A missing or an extra route does not compile.

import { apiKeyRoutes } from './access/apiKeys.routes.js';
import { auditRoutes } from './access/audit.routes.js';
import { roleRoutes } from './access/roles.routes.js';
import { userRoutes } from './access/users.routes.js';
import { automaticMessageRoutes } from './batches/automaticMessages.routes.js';
import { batchRoutes } from './batches/batches.routes.js';
import { campaignRoutes } from './batches/campaigns.routes.js';
import { cardMailRoutes } from './batches/cardMails.routes.js';
import { importRoutes } from './batches/imports/imports.routes.js';
import { feedRoutes } from './events/feed.routes.js';
import type { Routes } from './http/request.js';
import { publicRoutes } from './members/enrollment.routes.js';
import { memberRoutes } from './members/members.routes.js';
import { previewRoutes } from './pages/preview.routes.js';
import { personRoutes } from './persons/persons.routes.js';
import { balanceRoutes } from './points/balances.routes.js';
import { programRoutes } from './programs/programs.routes.js';
import { requestRoutes } from './stats/requests.routes.js';
import { statsRoutes } from './stats/stats.routes.js';
import { readerRoutes } from './till/readers.routes.js';
import { scanRoutes } from './till/scans.routes.js';
import { tillRoutes } from './till/till.routes.js';
import { passRoutes } from './wallets/passes.routes.js';
import { webhookRoutes } from './webhooks/webhooks.routes.js';

export const routes: Routes = {
  ...apiKeyRoutes,
  ...roleRoutes,
  ...userRoutes,
  ...programRoutes,
  ...memberRoutes,
  ...personRoutes,
  ...previewRoutes,
  ...balanceRoutes,
  ...importRoutes,
  ...batchRoutes,
  ...webhookRoutes,
  ...publicRoutes,
  ...scanRoutes,
  ...readerRoutes,
  ...tillRoutes,
  ...feedRoutes,
  ...cardMailRoutes,
  ...campaignRoutes,
  ...automaticMessageRoutes,
  ...passRoutes,
  ...statsRoutes,
  ...requestRoutes,
  ...auditRoutes,
};
