// One supervisor for each folder. Whoever takes a folder over from one that was killed first ends what that one left
// running: two engines on one data folder would ruin it.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ExpectedFailure } from './expectedFailure.js';
import { type Lock, type NamedProcess, tryLock } from './lock.js';
import { isAlive } from './processIdentity.js';
import { removeStackFile } from './stackFile.js';
import type { Terminal } from './terminal.js';

// The keeper of a killed supervisor begins at once; only where it is gone, too, is there anything to do here.
const keeperMs = 4_000;
const graceMs = 8_000;

/** Throws ExpectedFailure when another supervisor has the folder. */
export async function claimStackDir(stackDir: string, terminal: Pick<Terminal, 'warn'>): Promise<Lock> {
  mkdirSync(stackDir, { recursive: true, mode: 0o700 });
  const result = tryLock(join(stackDir, 'supervisor.lock'));
  if ('heldBy' in result) {
    throw new ExpectedFailure(
      `A stack runs on ${stackDir} already (pid ${result.heldBy.pid}). Stop that one, or take another folder and other ` +
        'ports: STACK_DIR=.stack2 PORT=3100 METRICS_PORT=9564 npm start',
    );
  }
  // It holds keys and data, whichever repository it stands in.
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
  if (await allGone(left, keeperMs)) return;
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
