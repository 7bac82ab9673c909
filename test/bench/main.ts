// `npm run bench [-- NAME ...] [--members N]`: the stack's real processes, every scenario beside its yardstick, one table, and
// bench/results.json under STACK_DIR.
import { execFileSync } from 'node:child_process';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { replaceFile } from '../../stack/stackFile.js';
import { type Bench, startBench } from './bench.js';
import { benchCsv } from './csv.js';
import { benchEffect } from './effect.js';
import { benchEnroll } from './enroll.js';
import { benchHung } from './hung.js';
import { benchIdle } from './idle.js';
import { benchImport } from './import.js';
import { benchList } from './list.js';
import { benchPasses } from './passes.js';
import { benchPoints, benchPointsOne } from './points.js';
import { benchPush } from './push.js';
import { reasons, unexplained } from './reasons.js';
import type { Row } from './row.js';
import { benchSearch } from './search.js';
import { benchStart } from './start.js';
import { printTable } from './table.js';
import { benchWebhooks } from './webhooks.js';

/** In the order of a whole run: what wants a young stack first, what leaves a large database behind last. */
const scenarios: Record<string, (bench: Bench) => Promise<Row[]>> = {
  start: benchStart,
  idle: benchIdle,
  points: benchPoints,
  'points-one': benchPointsOne,
  push: benchPush,
  enroll: benchEnroll,
  import: benchImport,
  effect: benchEffect,
  passes: benchPasses,
  webhooks: benchWebhooks,
  hung: benchHung,
  csv: benchCsv,
  list: benchList,
  search: benchSearch,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { members: { type: 'string', default: '1000000' }, profile: { type: 'boolean', default: false } },
});
const names = positionals.length > 0 ? positionals : Object.keys(scenarios);
const unknown = names.filter((name) => !(name in scenarios));
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(', ')}. There are: ${Object.keys(scenarios).join(', ')}.`);
  process.exit(2);
}

const bench = await startBench({ profile: values.profile, manyMembers: Number(values.members) });
const stopped = new Promise<never>((_, reject) => process.once('SIGINT', () => reject(new Error('stopped'))));
const rows: Row[] = [];
try {
  for (const name of names) {
    bench.log(`${name} ...`);
    const made = (await Promise.race([scenarios[name]?.(bench), stopped])) ?? [];
    rows.push(
      ...made.map((row) => ({ ...row, ...(row.reached === false && { reason: reasons[name] ?? unexplained }) })),
    );
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
