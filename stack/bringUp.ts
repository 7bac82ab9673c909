// Starts the engines, runs the migration, seeds the demo, then starts worker and API. stack.json is written when all of
// them answer.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toError } from '../platform/toError.js';
import { allOrNone } from './allOrNone.js';
import { type ChosenPorts, choosePorts } from './chosenPorts.js';
import type { SeedDemo, SeededDemo } from './demo.js';
import { type Engines, startEngines } from './engines/startEngines.js';
import type { NamedProcess } from './lock.js';
import { type ServicesInput, serviceEnv } from './services.js';
import type { Settings } from './settings.js';
import { type Demo, replaceFile, type StackFile, writeStackFile } from './stackFile.js';
import type { ProcessPlan } from './supervisedProcess.js';
import type { Supervisor } from './supervisor.js';
import type { Terminal } from './terminal.js';

export interface Bundle {
  title: string;
  /** Needs no engine. Returns a short text about the work done, for the terminal. */
  bundle(env: NodeJS.ProcessEnv): Promise<string>;
}

export interface StackParts {
  /** `env` is the environment that worker and API get. Returns a short text about the work done, for the terminal. */
  migrate(env: NodeJS.ProcessEnv): Promise<string>;
  seedDemo(input: SeedDemo): Promise<SeededDemo>;
  bundles: Bundle[];
  workerPlan(env: NodeJS.ProcessEnv): ProcessPlan;
  apiPlan(env: NodeJS.ProcessEnv, localUrl: string): ProcessPlan;
  deskPlan(env: NodeJS.ProcessEnv, takeWallets: (settings: Record<string, string>) => void): ProcessPlan;
  cafePlan(env: NodeJS.ProcessEnv, sayMade: (made: string) => void): ProcessPlan;
}

export interface BringUpDeps {
  settings: Settings;
  /** Whether a new demo gets no history. */
  isEmpty: boolean;
  supervisor: Supervisor;
  terminal: Terminal;
  signal: AbortSignal;
  parts: StackParts;
  /** All processes of the stack that live at the moment of the call. */
  living: () => NamedProcess[];
}

export interface BroughtUp {
  stack: StackFile;
  /** Opens the demo's console once; the URL is stored in no file. */
  signInLink: string;
}

export async function bringUp(deps: BringUpDeps): Promise<BroughtUp> {
  const { settings, terminal, signal, parts } = deps;
  const ports = await choosePorts(settings, (line) => terminal.line(`  ${line}`));
  const addresses = addressesOf(settings, ports);
  // A first start may build an engine for minutes, so what needs none is made at the same time.
  const [engines] = await allOrNone(signal, (signal) => [
    startEngines({ ...deps, signal }, ports),
    ...parts.bundles.map(({ title, bundle }) =>
      terminal.step(title, async () => ({ result: undefined, said: await bundle(settings.env) })),
    ),
  ]);
  const input: ServicesInput = { settings, engines, addresses, secrets: persistedSecrets(settings.stackDir) };
  const env = serviceEnv(input);

  signal.throwIfAborted();
  await terminal.step('migration', async () => ({ result: undefined, said: await parts.migrate(env) }));
  signal.throwIfAborted();
  const { signInLink, ...demo } = await terminal.step('demo', async () => {
    const consoleJwtSecret = env.CONSOLE_JWT_SECRET ?? '';
    const seeded = await parts.seedDemo({
      stackDir: settings.stackDir,
      mongodbUri: engines.mongodbUri,
      publicUrl: addresses.publicUrl,
      consoleJwtSecret,
      isEmpty: deps.isEmpty,
    });
    return { result: seeded, said: 'merchant, three programs, API key, console token, owner' };
  });
  signal.throwIfAborted();
  const [worker, api] = [parts.workerPlan(env), parts.apiPlan(env, addresses.localUrl)];
  await Promise.all([
    startService(deps, worker, 'runs workflows and activities'),
    startService(deps, api, `listens on ${addresses.localUrl}`),
  ]);
  const desk = parts.deskPlan(env, (wallets) => {
    for (const plan of [worker, api]) Object.assign(plan.env, wallets);
    deps.supervisor.tell([worker.name, api.name], { wallets });
  });
  // The demo works without them, so nothing waits for them.
  for (const plan of [desk, ...(deps.isEmpty ? [] : [parts.cafePlan(env, (made) => terminal.line(`  ${made}`))])])
    deps.supervisor.start(plan).catch((error: unknown) => {
      if (!signal.aborted) terminal.warn(toError(error).message);
    });

  const content = describeStack(deps, engines, addresses, demo);
  writeStackFile(settings.stackDir, content);
  return { stack: content, signInLink };
}

async function startService({ supervisor, terminal }: BringUpDeps, plan: ProcessPlan, said: string): Promise<void> {
  await terminal.step(plan.title, async () => ({ result: await supervisor.start(plan), said }));
}

interface Addresses {
  port: number;
  metricsPort: number;
  workerMetricsPort: number;
  /** The API's address for clients on this machine. */
  localUrl: string;
  metricsUrl: string;
  publicUrl: string;
  liveDeskUrl: string;
}

function addressesOf({ host, publicUrl }: Settings, ports: ChosenPorts): Addresses {
  const localUrl = `http://${reachableFromHere(host)}:${ports.api}`;
  const metricsUrl = `http://${reachableFromHere(host)}:${ports.metrics}/metrics`;
  return {
    port: ports.api,
    metricsPort: ports.metrics,
    workerMetricsPort: ports.workerMetrics,
    localUrl,
    metricsUrl,
    publicUrl: publicUrl ?? localUrl,
    liveDeskUrl: `http://127.0.0.1:${ports.desk}`,
  };
}

function reachableFromHere(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

function describeStack(deps: BringUpDeps, engines: Engines, addresses: Addresses, demo: Demo): StackFile {
  return {
    baseUrl: `${addresses.localUrl}/api/v1`,
    publicUrl: addresses.publicUrl,
    metricsUrl: addresses.metricsUrl,
    temporalUi: engines.temporalUi,
    temporalAddress: engines.temporalAddress,
    temporalNamespace: deps.settings.namespace,
    mongodbUri: engines.mongodbUri,
    redisUrl: deps.settings.given.redisUrl ?? null,
    pids: pidsOf(deps.living()),
    demo,
  };
}

export function pidsOf(living: NamedProcess[]): StackFile['pids'] {
  const named = living.filter(({ name }) => !['desk', 'cafe'].includes(name)).map(({ name, pid }) => [name, pid]);
  return { supervisor: process.pid, ...Object.fromEntries(named) };
}

function persistedSecrets(stackDir: string): { CONSOLE_JWT_SECRET: string; SECRETS_KEY: string } {
  return {
    CONSOLE_JWT_SECRET: persistedSecret(join(stackDir, 'console-jwt-secret'), 'base64url'),
    SECRETS_KEY: persistedSecret(join(stackDir, 'secrets-key'), 'base64'),
  };
}

function persistedSecret(path: string, encoding: BufferEncoding): string {
  if (!existsSync(path)) replaceFile(path, randomBytes(32).toString(encoding));
  return readFileSync(path, 'utf8').trim();
}
