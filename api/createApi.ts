// Builds the API from its configuration: the dependencies, and an HTTP server that does not listen yet. The process
// (api/main.ts) and the tests build it in the same way.
import { createServer, type Server } from 'node:http';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { createNoteKeyUse } from '../activities/access/apiKeys.writes.js';
import { createWriteRequests } from '../activities/stats/requests.writes.js';
import { createNoteReader } from '../activities/till/readers.writes.js';
import { createWallets, type Wallets } from '../activities/wallets/wallets.client.js';
import { type ClosableDeps, createDeps, type DepsOptions } from '../platform/createDeps.js';
import { createMetrics, type Metrics } from '../platform/metrics/metrics.js';
import { createSecretBox } from '../platform/secretBox.js';
import { connectTemporal } from '../platform/temporal/connectTemporal.js';
import type { WorkflowClient } from '../platform/temporal/workflowClient.js';
import { createTracing } from '../platform/tracing.js';
import { parseCidrs } from '../schemas/shared/addresses.rules.js';
import type { Config } from '../schemas/shared/config.schema.js';
import { createApp } from './app.js';
import { createAdmission } from './http/admission.js';
import { limitBodies } from './http/bodyTimeouts.js';
import { createLargeRequests } from './http/largeRequests.js';
import { createLimits } from './http/limits.js';
import { answerMalformedRequests } from './http/malformedRequests.js';
import { createOidc } from './http/oidc.client.js';
import { createRequestQueue } from './http/requestQueue.js';
import { serverOptions } from './http/serverOptions.js';
import { createUserTokens } from './http/userTokens.client.js';
import { createPushWaits } from './members/pushWaits.reads.js';

export interface ApiInput {
  config: Config;
  log: Logger;
  metrics?: Metrics;
  /** The kind of MongoDB timeouts; by default those of a process that answers callers. */
  patience?: DepsOptions['timeouts'];
  /** The clock; by default that of the machine. */
  now?: DepsOptions['now'];
}

export interface Api {
  /** Not listening yet. */
  server: Server;
  deps: ClosableDeps;
  wallets: Wallets;
  workflowClient: WorkflowClient;
  temporal: Client;
  /** Closes all dependencies. The caller closes the server before. */
  close: () => Promise<void>;
}

export async function createApi(input: ApiInput): Promise<Api> {
  const { config, log, metrics = createMetrics(), patience, now } = input;
  const wallets = await createWallets({ config, log });
  const tracing = await createTracing({ config, log, process: 'api' });
  const deps = createDeps({
    ...{ config, log, metrics, tracing, walletModes: wallets.modes },
    ...(patience !== undefined && { timeouts: patience }),
    ...(now && { now }),
  });
  const { client: temporal, workflowClient } = connectTemporal({ config, log });
  const limits = createLimits({ config, log });
  const requestLog = createRequestQueue({
    write: createWriteRequests(deps),
    dropped(rows, error) {
      metrics.unlogged(rows);
      if (error) log.debug({ err: error, rows }, 'requests could not be logged');
    },
  });
  const app = createApp({
    ...deps,
    workflowClient,
    limits,
    wallets,
    secrets: createSecretBox(config),
    userTokens: createUserTokens({ config, log }),
    oidc: createOidc({ config, log }),
    noteKeyUse: createNoteKeyUse(deps),
    noteReader: createNoteReader(deps),
    requestLog,
    urlPolicy: { allowHttp: config.WEBHOOK_ALLOW_HTTP, allow: parseCidrs(config.WEBHOOK_ALLOW_CIDRS) },
    admission: createAdmission({ ...deps, workflowClient }),
    pushWaits: createPushWaits(deps),
    largeRequests: createLargeRequests({ config }, { total: config.LARGE_REQUESTS }),
    exports: createLargeRequests({ config }),
  });
  const answering = createServer(serverOptions(config), app.callback());
  answerMalformedRequests(answering, deps);
  limitBodies(answering);
  return {
    server: answering,
    deps,
    wallets,
    workflowClient,
    temporal,
    async close() {
      await requestLog.flush();
      await Promise.allSettled([
        workflowClient.close(),
        wallets.close(),
        limits.close(),
        deps.close(),
        tracing.close(),
      ]);
    },
  };
}
