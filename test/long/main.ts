// `npm run test:long [-- PART... | --turn]`: runs the long suite, or some of its parts, or the third that is due.
// Prints at its end the last lines of each part that failed, the result and the duration of each part, and the counts of
// all tests.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOptions } from '../../stack/readOptions.js';
import { inWords, noteTally, sumOf } from '../rig/checks/tally.js';
import { endOf } from './lastLines.js';
import { couldNotRun, type Part, parts } from './parts.js';
import { takeTurn } from './turn.js';

const graceMs = 30_000;

interface Ran {
  part: Part;
  lastLines: string[];
  outcome: 'passed' | 'failed' | 'could not run' | 'failed: its time limit was up';
  minutes: number;
}

const usage = `Usage: npm run test:long -- [PART...] [--turn]

  --turn  only the third of the parts that is due

The parts: ${parts.map(({ name }) => name).join(', ')}.`;

const { values, positionals } = readOptions(usage, { allowPositionals: true, options: { turn: { type: 'boolean' } } });
const unknown = positionals.filter((name) => !parts.some((part) => part.name === name));
if (unknown.length > 0) {
  console.error(`There is no part ${unknown.join(', ')}. The parts: ${parts.map(({ name }) => name).join(', ')}.`);
  process.exit(2);
}

function chosen(): readonly Part[] {
  if (positionals.length > 0) return parts.filter(({ name }) => positionals.includes(name));
  if (!values.turn) return parts;
  const { turn, why } = takeTurn();
  console.log(`The long suite, turn ${turn} of 0 to 2, since ${why}.`);
  return parts.filter((part) => part.turn === turn);
}

const folder = mkdtempSync(join(tmpdir(), 'loyalty-pass-long-'));
// Includes the counts of an earlier command, if there are any.
const tallyFile = process.env.TEST_TALLY || join(folder, 'tally');
const env = { ...process.env, TEST_TALLY: tallyFile };

async function run(part: Part): Promise<Ran> {
  console.log(`\n=== ${part.name}: ${part.proves} (within ${part.limitMinutes} minutes)`);
  const begunAt = performance.now();
  const noted = sumOf(tallyFile);
  const child = spawn(process.execPath, part.args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env, ...(values.turn && part.turnEnv) },
  });
  let late = false;
  const limit = setTimeout(() => {
    late = true;
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), graceMs).unref();
  }, part.limitMinutes * 60_000);
  const { code, lastLines } = await endOf(child);
  clearTimeout(limit);
  const minutes = (performance.now() - begunAt) / 60_000;
  // Vitest counts its own tests; any other part counts as one test.
  const now = sumOf(tallyFile);
  const counted = JSON.stringify(now) !== JSON.stringify(noted);
  const allSkipped = counted && now.passed === noted.passed && now.failed === noted.failed;
  const outcome = outcomeOf(code === 0 && allSkipped ? couldNotRun : code, late);
  if (!counted)
    noteTally(
      {
        passed: outcome === 'passed' ? 1 : 0,
        failed: outcome.startsWith('failed') ? 1 : 0,
        skipped: outcome === 'could not run' ? 1 : 0,
      },
      tallyFile,
    );
  return { part, lastLines, outcome, minutes };
}

function outcomeOf(code: number | null, late: boolean): Ran['outcome'] {
  if (late) return 'failed: its time limit was up';
  if (code === couldNotRun) return 'could not run';
  return code === 0 ? 'passed' : 'failed';
}

const running = chosen();
const left = parts.filter((part) => !running.includes(part));
console.log(
  `Parts to run: ${running.map(({ name }) => name).join(', ')}. Not now: ${left.map(({ name }) => name).join(', ') || 'none'}.`,
);
const ran: Ran[] = [];
for (const part of running) ran.push(await run(part));
const failed = ran.filter(({ outcome }) => outcome.startsWith('failed'));
for (const { part, lastLines } of failed) console.log([`\nThe end of ${part.name}:`, ...lastLines].join('\n  '));

console.log('\nThe long suite:');
for (const { part, outcome, minutes } of ran)
  console.log(`  ${part.name.padEnd(14)}${`${minutes.toFixed(1)} min`.padStart(9)}  ${outcome}`);
if (process.env.TEST_TALLY) console.log('With the tests that ran before it:');
console.log(`\n${inWords(sumOf(tallyFile))}`);
rmSync(folder, { recursive: true, force: true });
process.exitCode = failed.length > 0 ? 1 : 0;
