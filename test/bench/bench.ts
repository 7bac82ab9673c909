// What every scenario works with: the stack's real processes in a folder and on ports of their own, the database they use,
// merchants to call for, and a way to wait until all that was asked for has been carried out.
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { type OpenStore, openStore } from '../../activities/store.js';
import { readConfig } from '../../schemas/config.js';
import { type RunningStack, startStack } from '../rig/runningStack.js';
import type { Pids } from './processes.js';
import { processNames } from './row.js';

export interface Bench {
  stack: RunningStack;
  store: OpenStore;
  /** Of the API, without a path. */
  origin: string;
  temporalAddress: string;
  pids: Pids;
  stop: () => Promise<void>;
}

/** The demo's settings, built as in the image, but no limit on how often a caller may call, and no word of every request. */
const benchEnv = {
  STACK_BUILT: 'true',
  LOG_LEVEL: 'warn',
  RATE_LIMIT_AUTHENTICATED: '1000000000',
  RATE_LIMIT_PUBLIC: '1000000000',
};

export interface BenchOptions {
  /** API and worker write where their time went. */
  profile?: boolean;
  /** Beside the demo's settings. */
  env?: NodeJS.ProcessEnv;
}

/** For scenarios that start a stack of their own. */
export interface OwnStackOptions extends BenchOptions {
  /** Of the merchant with many. */
  manyMembers: number;
  /** Of the file beyond what one answer may have. */
  importRows: number;
}

/** For results and the last logs; the engines' own data is in folders below it that go away. */
export const benchFolder = join(resolve(process.env.STACK_DIR || '.stack'), 'bench');

/** To whoever watches; standard output is for the table alone. */
export const log = (line: string): void => console.error(line);

export async function startBench({ profile = false, env = {} }: BenchOptions = {}): Promise<Bench> {
  const folder = benchFolder;
  mkdirSync(folder, { recursive: true });
  const stackDir = mkdtempSync(join(folder, 'engines-'));
  try {
    const stack = await startStack(stackDir, { ...benchEnv, ...(profile && profileEnv(folder)), ...env });
    // Also when the bench is stopped in the middle; the supervisor then stops the others.
    process.once('exit', () => stack.supervisor.kill('SIGTERM'));
    const file = stack.file();
    const pids: Pids = Object.fromEntries(processNames.map((name) => [name, file.pids[name]]).filter(([, pid]) => pid));
    const store = openStore({
      config: readConfig({
        MONGODB_URI: file.mongodbUri,
        SECRETS_KEY: Buffer.alloc(32).toString('base64'),
        CONSOLE_JWT_SECRET: 'x'.repeat(32),
      }),
      log: pino({ level: 'warn' }),
      patience: 'tool',
    });
    return {
      stack,
      store,
      origin: new URL(file.baseUrl).origin,
      temporalAddress: file.temporalAddress,
      pids,
      async stop() {
        await store.close();
        await stack.stop();
        cpSync(join(stackDir, 'logs'), join(folder, 'logs'), { recursive: true });
        rmSync(stackDir, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(stackDir, { recursive: true, force: true });
    throw error;
  }
}

function profileEnv(folder: string): NodeJS.ProcessEnv {
  const hook = new URL('profileHook.mjs', import.meta.url).href;
  return { BENCH_PROFILE_DIR: folder, NODE_OPTIONS: `--import ${hook}` };
}

/** Waits until no event waits to be carried out. Throws after `withinMs`. */
export async function settled({ store }: Pick<Bench, 'store'>, withinMs = 120_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (await store.rows.events.findOne({ state: 'new' }, { projection: { _id: 1 } })) {
    if (performance.now() > deadline) throw new Error(`The outbox was not empty within ${withinMs} ms.`);
    await sleep(100);
  }
}
