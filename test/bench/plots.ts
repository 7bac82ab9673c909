// Charts of the cost as work grows: `npm run bench -- plots plot-reads` writes the charts and their numbers into the
// folder bench under STACK_DIR.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, benchFolder, log, settled } from './bench.js';
import { type Chart, drawChart } from './chart.js';
import { importSides } from './import.js';
import type { Measured } from './load.js';
import { seedMany } from './manyMembers.js';
import { addMembers, aMerchant } from './merchant.js';
import { pointsSides } from './points.js';
import { peakWhile } from './processes.js';
import { startReceiver, subscribe } from './receiver.js';
import { round } from './row.js';
import { type ReadRounds, reads, readsOf } from './search.js';
import { addBacklog } from './webhooks.js';

const callerCounts = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const importSizes = [100, 500, 1_000, 2_500, 5_000];
const memberCounts = [1_000, 10_000, 100_000, 1_000_000];
const backlogs = [500, 1_000, 2_500, 5_000, 10_000];

type Charts = Record<string, Chart>;

/** Draws charts of throughput, imports and memory. */
export async function drawPlots(bench: Bench): Promise<[]> {
  const charts: Charts = {};
  for (const draw of [againstCallers, againstRows, againstBacklog]) Object.assign(charts, drawn(await draw(bench)));
  return written('plots', charts);
}

export interface PlotReadsSize extends ReadRounds {
  /** Members of the largest merchant. */
  most: number;
}

/** Draws a chart of reads by number of members. */
export async function drawReads(bench: Bench, { most, ...rounds }: PlotReadsSize): Promise<[]> {
  return written('plot-reads', drawn(await againstMembers(bench, most, rounds)));
}

function drawn(charts: Charts): Charts {
  for (const [name, chart] of Object.entries(charts)) {
    const file = join(benchFolder, `${name}.png`);
    writeFileSync(file, drawChart(chart));
    log(`  ${file}`);
  }
  return charts;
}

function written(name: string, charts: Charts): [] {
  writeFileSync(join(benchFolder, `${name}.json`), `${JSON.stringify(charts, null, 2)}\n`);
  return [];
}

async function againstCallers(bench: Bench): Promise<Charts> {
  const sides = await pointsSides(bench);
  await sides.ours(64, 1_500);
  await sides.yardstick(64, 1_000);
  await settled(bench);
  const measured: { callers: number; ours: Measured; bare: Measured }[] = [];
  for (const callers of callerCounts) {
    const ours = await sides.ours(callers, 2_500);
    await settled(bench);
    measured.push({ callers, ours, bare: await sides.yardstick(callers, 2_500) });
  }
  await sides.close();
  const x = { name: 'callers', log: 2 };
  const lines = (of: (side: Measured) => number) => [
    { name: 'PATCH points', points: measured.map(({ callers, ours }): [number, number] => [callers, of(ours)]) },
    {
      name: 'the same transaction by the bare driver',
      points: measured.map(({ callers, bare }): [number, number] => [callers, of(bare)]),
    },
  ];
  return {
    'throughput-callers': {
      title: 'Points changes accepted against callers',
      x,
      y: { name: 'changes a second' },
      lines: lines(({ rate }) => round(rate)),
    },
    'p99-callers': {
      title: 'p99 of points changes against callers',
      x,
      y: { name: 'ms', log: 10 },
      lines: lines(({ latency }) => latency.p99),
    },
  };
}

async function againstRows(bench: Bench): Promise<Charts> {
  const sides = await importSides(bench);
  await sides.ours(100);
  await sides.yardstick(100);
  const [ours, bare]: [[number, number][], [number, number][]] = [[], []];
  for (const rows of importSizes) {
    ours.push([rows, round(await sides.ours(rows), 3)]);
    bare.push([rows, round(await sides.yardstick(rows), 3)]);
  }
  await sides.close();
  return {
    'import-rows': {
      title: 'Import, from the file to the answer, against rows',
      x: { name: 'rows' },
      y: { name: 'seconds' },
      lines: [
        { name: 'import', points: ours },
        { name: 'bare bulk insert of the same documents', points: bare },
      ],
    },
  };
}

async function againstBacklog(bench: Bench): Promise<Charts> {
  const receiver = await startReceiver(bench);
  const merchant = await aMerchant(bench);
  await subscribe(merchant, receiver.url);
  const members = await addMembers(bench, { program: merchant.program, count: 200 });
  const peaks: Record<'api' | 'worker', [number, number][]> = { api: [], worker: [] };
  for (const backlog of backlogs) {
    const dueAt = await addBacklog(bench, members, backlog);
    await sleep(dueAt.getTime() - Date.now());
    const { peak } = await peakWhile(bench.pids, () => settled(bench, 300_000));
    for (const name of ['api', 'worker'] as const) peaks[name].push([backlog, peak[name] ?? 0]);
  }
  await merchant.close();
  await receiver.stop();
  return {
    'memory-backlog': {
      title: 'Peak memory while a backlog is processed',
      x: { name: 'events in the outbox' },
      y: { name: 'resident MB' },
      lines: [
        { name: 'worker', points: peaks.worker },
        { name: 'API', points: peaks.api },
      ],
    },
  };
}

async function againstMembers(bench: Bench, most: number, rounds: ReadRounds): Promise<Charts> {
  const counts = memberCounts.filter((count) => count <= most);
  const { merchants } = await seedMany(bench, counts);
  const lines = new Map(
    reads.map((read) => [read, { ours: [] as [number, number][], bare: [] as [number, number][] }]),
  );
  for (const at of merchants) {
    const side = await readsOf(bench, [at]);
    for (const [read, line] of lines) {
      const { ours, yardstick } = await side.compare(read, rounds);
      line.ours.push([at.count, ours.latency.p50]);
      line.bare.push([at.count, yardstick.latency.p50]);
    }
    await side.close();
    await at.merchant.close();
  }
  const shown = { member: 'GET member', serial: 'serial', q: 'q' };
  return {
    'search-members': {
      title: 'Reads of one caller, p50, against the members of the merchant',
      x: { name: 'members', log: 10 },
      y: { name: 'ms' },
      lines: [...lines].flatMap(([read, { ours, bare }]) => [
        { name: shown[read], points: ours },
        { name: `${shown[read]}, bare driver`, points: bare },
      ]),
    },
  };
}
