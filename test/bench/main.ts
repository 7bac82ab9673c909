// `npm run bench [-- NAME ...] [options]`: runs scenarios and yardsticks on the stack's real processes. The result
// of a scenario is printed at its end and stored with the earlier ones under STACK_DIR: in `bench/results.json`, for a
// quick run in `bench/quick.json`, each with a Markdown table. What a long scenario has measured is stored as it goes.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { readOptions } from '../../stack/readOptions.js';
import { replaceFile } from '../../stack/stackFile.js';
import { onStopRequest } from '../../stack/stopRequests.js';
import { benchFolder, log, startBenchStack } from './bench.js';
import { sizesOf } from './growth.js';
import { createProcessList } from './processList.js';
import type { Row } from './row.js';
import { type Mode, runScenarios } from './run.js';
import type { Scenario } from './scenario.js';
import { scenarios } from './scenarios.js';
import { heading, markdownTable, printRows } from './table.js';

const unexplained =
  'not explained yet: run it with --profile, then say why in the table of scenarios and in docs/performance.md';

const usage = `Usage: npm run bench -- [NAME...] [--quick] [--members N,N] [--merchants N,N] [--subscriptions N,N] [--rows N] [--profile]

  NAME             scenarios, or the group growth, which runs only by name; with --quick so do the long ones
  --quick          smaller numbers, a few minutes
  --members        of the growth; the last is that of other scenarios, too (10000,100000,1000000)
  --merchants      of the growth (1,50,200)
  --subscriptions  of the growth (1,10,50)
  --rows           of the import (100000)
  --profile        writes processor profiles`;

const { values, positionals } = readOptions(usage, {
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    members: { type: 'string' },
    merchants: { type: 'string' },
    subscriptions: { type: 'string' },
    rows: { type: 'string', default: '100000' },
    profile: { type: 'boolean', default: false },
  },
});
const mode: Mode = values.quick ? 'quick' : 'full';
const chosen = choose();
const commit = git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') === '' ? '' : ' and changes');

const stop = new AbortController();
onStopRequest(
  () => {
    log('stopping ...');
    // The stop ends the processes of the running scenario, so its later errors are ignored.
    process.on('uncaughtException', () => {});
    stop.abort(new Error('The bench was stopped.'));
  },
  () => process.exit(130),
);

const startedAt = performance.now();
const secondsSinceStart = () => Math.round((performance.now() - startedAt) / 1_000);
const measured = new Map<string, { seconds: number; rows: Row[] }>();
mkdirSync(benchFolder, { recursive: true });
try {
  if (chosen.some(({ needs }) => needs !== 'nothing')) await build();
  console.log(heading);
  await runScenarios(
    {
      openStack: (options) => startBenchStack({ ...options, profile: values.profile }),
      signal: stop.signal,
      begun: ({ name, yardstick }) => log(`${name} ...${yardstick === null ? '' : ` beside ${yardstick}`}`),
      soFar(scenario, rows) {
        measured.set(scenario.name, { seconds: 0, rows });
        write();
      },
      ended(scenario, { rows, seconds, error }) {
        if (error !== undefined) {
          console.error(error);
          process.exitCode = 1;
        }
        const explained = rows.map((row) =>
          row.reached === false && error === undefined ? { ...row, reason: scenario.reason ?? unexplained } : row,
        );
        measured.set(scenario.name, { seconds, rows: explained });
        printRows(explained);
        write();
        log(`${scenario.name} took ${seconds} s, all so far ${secondsSinceStart()} s`);
      },
    },
    chosen,
    mode,
  );
} catch (error) {
  if (!stop.signal.aborted) throw error;
  process.exitCode = 130;
}
// Also ends the process when a failed scenario left a timer or a connection.
process.exit();

function choose(): Scenario[] {
  const all = scenarios({
    rows: Number(values.rows),
    ...(values.members && { members: sizesOf(values.members) }),
    ...(values.merchants && { merchants: sizesOf(values.merchants) }),
    ...(values.subscriptions && { subscriptions: sizesOf(values.subscriptions) }),
  });
  const known = mode === 'quick' ? all.filter(({ quick }) => quick !== undefined) : all;
  const isNamed = (scenario: Scenario, name: string) => name === scenario.name || name === scenario.group;
  const unknown = positionals.filter((name) => !known.some((scenario) => isNamed(scenario, name)));
  if (unknown.length > 0) {
    const names = known.map(({ name }) => name).join(', ');
    console.error(`Unknown: ${unknown.join(', ')}. There are${mode === 'quick' ? ' with --quick' : ''}: ${names}.`);
    process.exit(2);
  }
  const runsUnnamed = ({ onlyByName }: Scenario) =>
    onlyByName === undefined || (onlyByName === 'in quick' && mode === 'full');
  return known.filter((scenario) =>
    positionals.length > 0 ? positionals.some((name) => isNamed(scenario, name)) : runsUnnamed(scenario),
  );
}

async function build(): Promise<void> {
  log('npm run build ...');
  const processes = createProcessList();
  const building = processes.add(
    spawn('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 'inherit', 'inherit'], detached: true }),
  );
  const end = () => void processes.end();
  stop.signal.addEventListener('abort', end, { once: true });
  const [code] = await once(building, 'exit');
  stop.signal.removeEventListener('abort', end);
  await processes.end();
  stop.signal.throwIfAborted();
  if (code !== 0) throw new Error(`npm run build ended with ${code}.`);
}

function write(): void {
  const name = mode === 'quick' ? 'quick' : 'results';
  const rows = [...measured.values()].flatMap((one) => one.rows);
  const seconds = Object.fromEntries([...measured].map(([name, one]) => [name, one.seconds]));
  replaceFile(join(benchFolder, `${name}.json`), `${JSON.stringify({ ...about(), seconds, rows }, null, 2)}\n`);
  replaceFile(join(benchFolder, `${name}.md`), `${markdownTable(rows)}\n`);
}

function about() {
  return {
    at: new Date().toISOString(),
    commit,
    machine: {
      processor: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryGb: Math.round(totalmem() / 2 ** 30),
      kernel: release(),
      node: process.version,
      /** The load averages over one, five and fifteen minutes. */
      load: loadavg().map((value) => Math.round(value * 10) / 10),
    },
  };
}

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8' }).trim();
}
