// Runs `npm start` as a user does, in its own folder and on its own ports.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readStackFile, type StackFile } from '../../../stack/stackFile.js';
import { watchLogFolder } from '../checks/failureLog.js';

export interface RunningStack {
  supervisor: ChildProcess;
  /** The output so far. */
  printed(): string;
  /** The present content of stack.json. */
  file(): StackFile;
  /** Resolves with the exit code; null after a kill. */
  ended: Promise<number | null>;
  /** Sends the signal, waits until the process has ended and returns its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export function newStackDir(): { stackDir: string; remove: () => void } {
  const stackDir = mkdtempSync(join(tmpdir(), 'loyalty-pass-stack-'));
  return { stackDir, remove: () => rmSync(stackDir, { recursive: true, force: true }) };
}

const withoutCafe = ['--empty'];

/** Starts the command and returns at once. By default the demo has no history. */
export function runStart(stackDir: string, env: NodeJS.ProcessEnv = {}, args = withoutCafe): RunningStack {
  const supervisor = spawn(process.execPath, ['--import', 'tsx', 'stack/start.ts', ...args], {
    cwd: join(import.meta.dirname, '..', '..', '..'),
    env: { ...process.env, STACK_DIR: stackDir, PORT: '0', METRICS_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [supervisor.stdout, supervisor.stderr]) stream.on('data', (data) => (text += String(data)));
  const ended = once(supervisor, 'close').then(([code]) => (typeof code === 'number' ? code : null));
  return {
    supervisor,
    printed: () => text,
    file() {
      const file = readStackFile(stackDir);
      if (file === undefined) throw new Error(`There is no stack.json. The start printed:\n${text}`);
      return file;
    },
    ended,
    async stop(signal = 'SIGINT') {
      supervisor.kill(signal);
      return await ended;
    },
  };
}

/** Starts the command and waits until all parts answer. */
export async function startStack(
  stackDir: string,
  env: NodeJS.ProcessEnv = {},
  args = withoutCafe,
): Promise<RunningStack> {
  watchLogFolder(join(stackDir, 'logs'));
  const stack = runStart(stackDir, env, args);
  for (;;) {
    if (stack.printed().includes('Everything runs')) return stack;
    if (stack.supervisor.exitCode !== null) throw new Error(`The start ended:\n${stack.printed()}`);
    await sleep(50);
  }
}
