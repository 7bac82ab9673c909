// Allows one supervisor for each stack folder. A supervisor that takes over the folder of a killed one first ends the
// processes that the killed one left running: two engines on one data folder would corrupt it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ExpectedFailure } from './expectedFailure.js';
import { type Lock, type NamedProcess, tryLock } from './lock.js';
import { isAlive } from './processIdentity.js';
import { removeStackFile } from './stackFile.js';
import type { Terminal } from './terminal.js';

// Time for the reaper of a killed supervisor, which starts at once. Only processes that live longer than this are ended
// here.
const reaperMs = 4_000;
const graceMs = 8_000;

/** Throws ExpectedFailure when another supervisor holds the folder. */
export async function lockStackDir(stackDir: string, terminal: Pick<Terminal, 'warn'>): Promise<Lock> {
  mkdirSync(stackDir, { recursive: true, mode: 0o700 });
  const result = tryLock(join(stackDir, 'supervisor.lock'));
  if ('heldBy' in result) {
    throw new ExpectedFailure(
      `A stack runs on ${stackDir} already (pid ${result.heldBy.pid}). Stop that one, or take another folder and other ` +
        'ports: STACK_DIR=.stack2 PORT=3100 METRICS_PORT=9564 npm start',
    );
  }
  // A .gitignore, because the folder contains keys and data.
  writeFileSync(join(stackDir, '.gitignore'), '*\n');
  const { lock } = result;
  await endLeftBehind(lock.leftBehind.filter(isAlive), terminal);
  removeStackFile(stackDir);
  lock.record([]);
  return lock;
}

async function endLeftBehind(left: NamedProcess[], terminal: Pick<Terminal, 'warn'>): Promise<void> {
  if (left.length === 0) return;
  const names = left.map(({ name, pid }) => `${name} (pid ${pid})`).join(', ');
  terminal.warn(`the last run was killed; ending what it left: ${names}`);
  if (await allGone(left, reaperMs)) return;
  signalAll(left, 'SIGTERM');
  if (await allGone(left, graceMs)) return;
  signalAll(left, 'SIGKILL');
  await allGone(left, graceMs);
}

async function allGone(left: NamedProcess[], withinMs: number): Promise<boolean> {
  const until = Date.now() + withinMs;
  while (left.some(isAlive)) {
    if (Date.now() > until) return false;
    await sleep(50);
  }
  return true;
}

function signalAll(left: NamedProcess[], signal: NodeJS.Signals): void {
  for (const one of left) if (isAlive(one)) process.kill(one.pid, signal);
}
