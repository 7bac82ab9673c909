// Chooses the third of the long suite that a CI run executes. Each part runs in at least every third run if runs can be
// counted.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDirOf } from '../../stack/engines/cache.js';
import type { Part } from './parts.js';

export interface Turn {
  turn: Part['turn'];
  why: string;
}

const turnOf = (count: number): Part['turn'] => ([0, 1, 2] as const)[count % 3] ?? 0;

/**
 * Chosen by the run number if the CI gives one, otherwise by the last turn stored on this machine, otherwise by the
 * number of commits.
 */
export function takeTurn(env: NodeJS.ProcessEnv = process.env): Turn {
  if (env.TEST_RUN_NUMBER)
    return { turn: turnOf(Number(env.TEST_RUN_NUMBER)), why: `this is run ${env.TEST_RUN_NUMBER} (TEST_RUN_NUMBER)` };
  const folder = cacheDirOf(env);
  const file = join(folder, 'long-suite-runs');
  const runs = readNumber(() => readFileSync(file, 'utf8'));
  const commits = readNumber(() => execFileSync('git', ['rev-list', '--count', 'HEAD'], { encoding: 'utf8' })) ?? 0;
  const next = runs === undefined ? commits : runs + 1;
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, String(next));
  const why =
    runs === undefined
      ? `this machine remembers no run, and HEAD is commit ${commits}`
      : `the last run of this machine was turn ${turnOf(runs)}`;
  return { turn: turnOf(next), why };
}

function readNumber(read: () => string): number | undefined {
  try {
    const number = Number.parseInt(read(), 10);
    return Number.isNaN(number) ? undefined : number;
  } catch {
    return undefined;
  }
}
