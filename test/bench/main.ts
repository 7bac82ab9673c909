// `npm run bench [-- NAME ...] [--members N] [--rows N]`: the stack's real processes, every scenario beside its yardstick, one
// table, and bench/results.json under STACK_DIR, with the table for docs/performance.md beside it. `npm run bench -- plots`
// draws how the costs grow instead.
import { execFileSync } from 'node:child_process';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { replaceFile } from '../../stack/stackFile.js';
import { type Bench, benchFolder, log, type OwnStackOptions, startBench } from './bench.js';
import { benchCsv } from './csv.js';
import { benchEffect } from './effect.js';
import { benchEnroll } from './enroll.js';
import { benchHung } from './hung.js';
import { benchIdle } from './idle.js';
import { benchImport } from './import.js';
import { benchLargeImport } from './largeImport.js';
import { benchList } from './list.js';
import { benchPasses } from './passes.js';
import { drawPlots } from './plots.js';
import { benchPoints, benchPointsOne } from './points.js';
import { benchPush } from './push.js';
import { reasons, unexplained } from './reasons.js';
import type { Row } from './row.js';
import { benchSearch } from './search.js';
import { benchStart } from './start.js';
import { markdownTable, printTable } from './table.js';
import { benchWebhooks } from './webhooks.js';

type Scenario<T> = (given: T) => Promise<Row[]>;

/** In the order of a whole run: what wants a young stack comes first. */
const onOneStack: Record<string, Scenario<Bench>> = {
  start: benchStart,
  idle: benchIdle,
  points: benchPoints,
  'points-one': benchPointsOne,
  enroll: benchEnroll,
  import: benchImport,
  effect: benchEffect,
  passes: benchPasses,
  webhooks: benchWebhooks,
  hung: benchHung,
  csv: benchCsv,
};
const onTheirOwn: Record<string, Scenario<OwnStackOptions>> = {
  push: benchPush,
  'large-import': benchLargeImport,
  list: benchList,
  search: benchSearch,
  plots: drawPlots,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    members: { type: 'string', default: '1000000' },
    rows: { type: 'string', default: '100000' },
    profile: { type: 'boolean', default: false },
  },
});
const known = [...Object.keys(onOneStack), ...Object.keys(onTheirOwn)];
const names = positionals.length > 0 ? positionals : known.filter((name) => name !== 'plots');
const unknown = names.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(', ')}. There are: ${known.join(', ')}.`);
  process.exit(2);
}
const { profile } = values;
const given = { profile, manyMembers: Number(values.members), importRows: Number(values.rows) };

const stopped = new Promise<never>((_, reject) => process.once('SIGINT', () => reject(new Error('stopped'))));
const rows: Row[] = [];
async function runAll<T>(scenarios: Record<string, Scenario<T>>, wanted: readonly string[], given: T): Promise<void> {
  for (const name of wanted) {
    log(`${name} ...`);
    const made = (await Promise.race([attempt(name, scenarios[name]?.(given)), stopped])) ?? [];
    rows.push(
      ...made.map((row) => ({ ...row, ...(row.reached === false && { reason: reasons[name] ?? unexplained }) })),
    );
  }
}

/** A scenario that fails is a line of its own: what the others measured is not lost with it. */
async function attempt(name: string, running: Promise<Row[]> | undefined): Promise<Row[] | undefined> {
  try {
    return await running;
  } catch (error) {
    log(error instanceof Error ? String(error.stack) : String(error));
    process.exitCode = 1;
    const nothing = { ours: 0, yardstick: null, ratio: null, unit: '', goal: 'to run' };
    return [
      { ...nothing, scenario: name, note: `It failed: ${error instanceof Error ? error.message : String(error)}` },
    ];
  }
}
log('npm run build ...');
execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });

const among = (scenarios: object) => names.filter((name) => name in scenarios);

try {
  const shared = among(onOneStack);
  if (shared.length > 0) {
    const bench = await startBench({ profile });
    await runAll(onOneStack, shared, bench).finally(bench.stop);
  }
  await runAll(onTheirOwn, among(onTheirOwn), given);
} finally {
  if (rows.length > 0) {
    replaceFile(join(benchFolder, 'results.json'), `${JSON.stringify({ ...about(), rows }, null, 2)}\n`);
    replaceFile(join(benchFolder, 'results.md'), `${markdownTable(rows)}\n`);
    printTable(rows);
  }
}
// A scenario that failed may have left something open.
process.exit();

function about() {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
  return {
    at: new Date().toISOString(),
    commit: git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') === '' ? '' : ' and changes'),
    machine: {
      processor: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryGb: Math.round(totalmem() / 2 ** 30),
      kernel: release(),
      node: process.version,
      /** At the end, over one, five and fifteen minutes. */
      load: loadavg().map((value) => Math.round(value * 10) / 10),
    },
  };
}
