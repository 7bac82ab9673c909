// The start command as a user runs it, in a folder and on ports of its own.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readStackFile, type StackFile } from '../../stack/stackFile.js';

export interface RunningStack {
  supervisor: ChildProcess;
  /** All that it printed so far. */
  printed(): string;
  /** What stack.json says now. */
  file(): StackFile;
  /** Resolves with the exit code, null after a kill. */
  ended: Promise<number | null>;
  /** Asks it to stop and waits for its end; returns the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export function newStackDir(): { stackDir: string; remove: () => void } {
  const stackDir = mkdtempSync(join(tmpdir(), 'loyalty-pass-stack-'));
  return { stackDir, remove: () => rmSync(stackDir, { recursive: true, force: true }) };
}

/** Runs the command without waiting for anything. */
export function runStart(stackDir: string, env: NodeJS.ProcessEnv = {}): RunningStack {
  const supervisor = spawn(process.execPath, ['--import', 'tsx', 'stack/start.ts'], {
    cwd: join(import.meta.dirname, '..', '..'),
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

/** Runs the command and waits until everything answers. */
export async function startStack(stackDir: string, env: NodeJS.ProcessEnv = {}): Promise<RunningStack> {
  const stack = runStart(stackDir, env);
  for (;;) {
    if (stack.printed().includes('Everything runs')) return stack;
    if (stack.supervisor.exitCode !== null) throw new Error(`The start ended:\n${stack.printed()}`);
    await sleep(50);
  }
}
