// `npm run bench [-- NAME ...] [--large]`: the stack's real processes, every scenario beside its yardstick, one table, and
// bench/results.json under STACK_DIR.
import { execFileSync } from 'node:child_process';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { replaceFile } from '../../stack/stackFile.js';
import { type Bench, startBench } from './bench.js';
import { benchEffect } from './effect.js';
import { benchPasses } from './passes.js';
import { benchPoints, benchPointsOne } from './points.js';
import type { Row } from './row.js';
import { printTable } from './table.js';

const scenarios: Record<string, (bench: Bench) => Promise<Row[]>> = {
  points: benchPoints,
  'points-one': benchPointsOne,
  effect: benchEffect,
  passes: benchPasses,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { large: { type: 'boolean', default: false }, profile: { type: 'boolean', default: false } },
});
const names = positionals.length > 0 ? positionals : Object.keys(scenarios);
const unknown = names.filter((name) => !(name in scenarios));
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(', ')}. There are: ${Object.keys(scenarios).join(', ')}.`);
  process.exit(2);
}

const bench = await startBench(values);
const stopped = new Promise<never>((_, reject) => process.once('SIGINT', () => reject(new Error('stopped'))));
const rows: Row[] = [];
try {
  for (const name of names) {
    bench.log(`${name} ...`);
    rows.push(...((await Promise.race([scenarios[name]?.(bench), stopped])) ?? []));
  }
} finally {
  await bench.stop();
  const results = { ...about(), rows };
  replaceFile(join(bench.folder, 'results.json'), `${JSON.stringify(results, null, 2)}\n`);
  printTable(rows);
}

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
    },
  };
}
