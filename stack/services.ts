// Describes the worker and the API process. All their settings and secrets come from the environment, none from the
// command line.
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Engines } from './engines/startEngines.js';
import type { Settings } from './settings.js';
import type { ProcessPlan } from './supervisedProcess.js';
import { until } from './until.js';

const root = fileURLToPath(new URL('..', import.meta.url));

export interface ServiceAddresses {
  port: number;
  metricsPort: number;
  workerMetricsPort: number;
  publicUrl: string;
  liveDeskUrl: string;
}

export interface ServicesInput {
  settings: Settings;
  engines: Engines;
  addresses: ServiceAddresses;
  secrets: { CONSOLE_JWT_SECRET?: string; SECRETS_KEY?: string };
}

export function serviceEnv({ settings, engines, addresses, secrets }: ServicesInput): NodeJS.ProcessEnv {
  return {
    ...secrets,
    ...settings.env,
    MONGODB_URI: engines.mongodbUri,
    ...(engines.mongodbEmbedded && { MONGODB_EMBEDDED: 'true' }),
    TEMPORAL_ADDRESS: engines.temporalAddress,
    HOST: settings.host,
    PORT: String(addresses.port),
    METRICS_PORT: String(addresses.metricsPort),
    WORKER_METRICS_PORT: String(addresses.workerMetricsPort),
    PUBLIC_URL: addresses.publicUrl,
    LIVE_DESK_URL: addresses.liveDeskUrl,
    STACK_DIR: settings.stackDir,
  };
}

export function workerPlan(env: NodeJS.ProcessEnv): ProcessPlan {
  return {
    ...nodePlan('worker/main', env),
    name: 'worker',
    title: 'worker',
    ready: ({ saidReady }) => saidReady,
    graceMs: 25_000,
  };
}

export function apiPlan(env: NodeJS.ProcessEnv, localUrl: string): ProcessPlan {
  return {
    ...nodePlan('api/main', env),
    name: 'api',
    title: 'API',
    async ready({ saidReady }, signal) {
      // Something else may answer at the address.
      await saidReady;
      await until(() => answers(`${localUrl}/readyz`), 50, signal);
    },
    graceMs: 15_000,
  };
}

/**
 * The live desk of the demo (test/rig/phones/desk.ts). When it has wallets for the services, they take their settings
 * without a stop.
 */
export function deskPlan(env: NodeJS.ProcessEnv, takeWallets: (settings: Record<string, string>) => void): ProcessPlan {
  return {
    ...nodePlan('test/rig/phones/desk', { ...env, STACK_BUILT: 'false' }),
    name: 'desk',
    title: 'live desk',
    ready: ({ saidReady }) => saidReady,
    heard(message) {
      const { success, data } = z.object({ wallets: z.record(z.string(), z.string()) }).safeParse(message);
      if (success) takeWallets(data.wallets);
    },
    graceMs: 2_000,
  };
}

/** Makes the demo's history, and ends (stack/cafe/main.ts). */
export function cafePlan(env: NodeJS.ProcessEnv, sayMade: (made: string) => void): ProcessPlan {
  return {
    ...nodePlan('stack/cafe/main', env),
    name: 'cafe',
    title: "the café's history",
    once: true,
    ready: ({ saidReady }) => saidReady,
    heard(message) {
      const { success, data } = z.object({ made: z.string() }).safeParse(message);
      if (success) sayMade(data.made);
    },
    graceMs: 2_000,
  };
}

/** Runs the TypeScript sources or, with STACK_BUILT=true, the output of `npm run build`. */
function nodePlan(script: string, env: NodeJS.ProcessEnv) {
  return {
    command: process.execPath,
    args: env.STACK_BUILT === 'true' ? [`dist/${script}.js`] : ['--import', 'tsx', `${script}.ts`],
    cwd: root,
    // With at most two malloc arenas, threads reuse each other's freed memory: 264 MB instead of 306 MB at the peak of
    // an import.
    env: { MALLOC_ARENA_MAX: '2', ...env },
    ipc: true,
    readyWithinMs: 60_000,
  };
}

async function answers(url: string): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
  await response.body?.cancel();
  return response.status === 200;
}
