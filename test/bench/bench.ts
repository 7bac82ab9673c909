// The environment of a scenario: the stack's real processes in their own folder and on their own ports, the database
// that they use, the list of processes that the scenario starts, and a wait until the outbox is empty.
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { type ClosableDeps, createDeps } from '../../platform/createDeps.js';
import { readConfig } from '../../schemas/shared/config.schema.js';
import { until } from '../../stack/until.js';
import { runStart } from '../rig/start/runningStack.js';
import type { Pids } from './processes.js';
import { createProcessList, type ProcessList } from './processList.js';
import { processNames, type Row } from './row.js';

export interface Bench {
  /** The processes that the scenario starts; they end with the scenario. */
  processes: ProcessList;
  deps: ClosableDeps;
  /** The API's origin, without a path. */
  origin: string;
  temporalAddress: string;
  pids: Pids;
  /** Settings of the stack in addition to the demo's. */
  env: NodeJS.ProcessEnv;
  /** Reports the rows of a long scenario so far, which are kept when the run is stopped or the scenario fails. */
  soFar: (rows: Row[]) => void;
}

export interface BenchStack extends Omit<Bench, 'processes' | 'soFar'> {
  stop: () => Promise<void>;
}

/**
 * The demo's settings with a compiled service as in the image, without rate limits and without a log line for each
 * request.
 */
const benchEnv = {
  STACK_BUILT: 'true',
  LOG_LEVEL: 'warn',
  RATE_LIMIT_AUTHENTICATED: '1000000000',
  RATE_LIMIT_PUBLIC: '1000000000',
  WALLET_CALLS_PER_ADDRESS: '1000000000',
};

export interface BenchOptions {
  /** API and worker write CPU profiles. */
  profile?: boolean;
  /** Settings in addition to the demo's. */
  env?: NodeJS.ProcessEnv;
  /** Aborts a start that is under way. */
  signal: AbortSignal;
}

/** The folder of results and the last logs. The engines' data is in subfolders that are removed. */
export const benchFolder = join(resolve(process.env.STACK_DIR || '.stack'), 'bench');

/** Prints progress to standard error; standard output has results only. */
export const log = (line: string): void => console.error(line);

/** Throws when the stack does not start; then all of its processes are ended. */
export async function startBenchStack({ profile = false, env = {}, signal }: BenchOptions): Promise<BenchStack> {
  const folder = benchFolder;
  mkdirSync(folder, { recursive: true });
  const stackDir = mkdtempSync(join(folder, 'engines-'));
  const processes = createProcessList();
  const stop = async () => {
    await processes.end();
    const logs = join(stackDir, 'logs');
    if (existsSync(logs)) cpSync(logs, join(folder, 'logs'), { recursive: true });
    rmSync(stackDir, { recursive: true, force: true });
  };
  try {
    signal.throwIfAborted();
    const stack = runStart(stackDir, { ...benchEnv, ...(profile && profileEnv(folder)), ...env });
    processes.add(stack.supervisor);
    const ended = stack.ended.then(() => {
      const printed = stack.printed();
      throw new Error(`The stack did not start: ${printed.trimEnd().split('\n').at(-1)}`, { cause: printed });
    });
    ended.catch(() => {});
    await Promise.race([until(async () => stack.printed().includes('Everything runs'), 50, signal), ended]);
    const file = stack.file();
    const pids: Pids = Object.fromEntries(processNames.map((name) => [name, file.pids[name]]).filter(([, pid]) => pid));
    const deps = createDeps({
      config: readConfig({
        MONGODB_URI: file.mongodbUri,
        SECRETS_KEY: Buffer.alloc(32).toString('base64'),
        CONSOLE_JWT_SECRET: 'x'.repeat(32),
      }),
      log: pino({ level: 'warn' }),
      timeouts: 'tool',
    });
    return {
      deps,
      origin: new URL(file.baseUrl).origin,
      temporalAddress: file.temporalAddress,
      pids,
      env,
      async stop() {
        await deps.close();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function profileEnv(folder: string): NodeJS.ProcessEnv {
  const hook = new URL('profileHook.mjs', import.meta.url).href;
  return { BENCH_PROFILE_DIR: folder, NODE_OPTIONS: `--import ${hook}` };
}

/** Waits until no event is due. Throws after `withinMs`. */
export async function settled({ deps }: Pick<Bench, 'deps'>, withinMs = 120_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (await deps.collections.events.findOne({ state: 'new' }, { projection: { _id: 1 } })) {
    if (performance.now() > deadline) throw new Error(`The outbox was not empty within ${withinMs} ms.`);
    await sleep(100);
  }
}
