// The growth of the main lines with the members of one merchant, and with the number of merchants.
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import { type Bench, settled } from './bench.js';
import { type Line, measureGrowth } from './growth.js';
import { importSides } from './import.js';
import { pagesOf } from './list.js';
import { type Compared, sideBySide, sooner } from './load.js';
import { type ManyMembers, seed, seedMany } from './manyMembers.js';
import { aMerchant, type BenchMerchant } from './merchant.js';
import { changesOf } from './points.js';
import { cpuMeter } from './processes.js';
import type { Row } from './row.js';
import { readsOf } from './search.js';

const callers = 64;
const importedRows = 1_000;
const membersOfEach = 200;

/** How long each side of a line is measured in each round. */
export interface LineRounds {
  rounds: number;
  ms: number;
}

interface Measurable {
  all: readonly ManyMembers[];
  /** Who imports; by default a merchant without members. */
  importer?: BenchMerchant;
}

const medians = ({ ours, yardstick }: Compared) => ({ ours: ours.latency.p50, yardstick: yardstick.latency.p50 });
const msEach = ({ ours, yardstick }: Compared) => ({ ours: 1_000 / ours.rate, yardstick: 1_000 / yardstick.rate });

/** The import comes last, because it adds members. */
async function linesOf(bench: Bench, { all, importer }: Measurable, { rounds, ms }: LineRounds) {
  const members = all.flatMap(({ merchant, some }) => some.map(({ _id }) => ({ merchant, _id })));
  const changes = changesOf(bench, {
    mine: members.filter((_, index) => index % 2 === 0),
    theirs: members.filter((_, index) => index % 2 === 1),
  });
  const reads = await readsOf(bench, all);
  const pages = pagesOf(bench);
  const imports = await importSides(bench, importer);
  const newest = all.at(-1);
  if (!newest) throw new Error('There are no merchants.');

  const change = async (together: number) => {
    await changes.ours(together, ms);
    await changes.yardstick(together, ms / 2);
    await settled(bench);
    return sideBySide({
      pids: bench.pids,
      rounds,
      ours: () => changes.ours(together, ms),
      yardstick: () => changes.yardstick(together, ms),
      settle: () => settled(bench),
      ...(together === 1 && { better: sooner }),
    });
  };
  const imported = async () => {
    const seconds = { ours: Number.POSITIVE_INFINITY, yardstick: Number.POSITIVE_INFINITY };
    for (let round = 0; round < rounds; round += 1) {
      seconds.ours = Math.min(seconds.ours, await imports.ours(importedRows));
      seconds.yardstick = Math.min(seconds.yardstick, await imports.yardstick(importedRows));
      await settled(bench);
    }
    return seconds;
  };
  const read = { rounds, ms };
  const lines: Line[] = [
    line(`points accepted, ${callers} callers`, 'ms each', async () => msEach(await change(callers))),
    line('points, one caller, p50', 'ms', async () => medians(await change(1))),
    line('GET member, p50', 'ms', async () => medians(await reads.compare('member', read))),
    line('page 1 of the members, p50', 'ms', async () => medians(await pages.compare(newest, { page: 1, ...read }))),
    line('?q=, p50', 'ms', async () => medians(await reads.compare('q', read))),
    line(`import of ${importedRows.toLocaleString('en')} rows`, 's', imported),
  ];
  return { lines, close: () => Promise.all([changes, reads, pages, imports].map((side) => side.close())) };
}

const line = (name: string, unit: string, measure: Line['measure']): Line => ({ name, unit, of: 'one', measure });

export interface GrowthMembersSize extends LineRounds {
  sizes: readonly number[];
}

/** Each size is a further merchant, after the smaller ones were measured. */
export const benchGrowthMembers = (bench: Bench, { sizes, ...rounds }: GrowthMembersSize): Promise<Row[]> =>
  measureGrowth(bench, {
    what: 'members',
    sizes,
    async at(size) {
      const { merchants: all } = await seedMany(bench, [size]);
      const importer = all[0]?.merchant;
      const { lines, close } = await linesOf(bench, { all, ...(importer && { importer }) }, rounds);
      return { lines, close: () => close().then(() => importer?.close()) };
    },
  });

export interface GrowthMerchantsSize extends LineRounds {
  sizes: readonly number[];
  idle: { settleMs: number; watchedMs: number };
}

export async function benchGrowthMerchants(
  bench: Bench,
  { sizes, idle, ...rounds }: GrowthMerchantsSize,
): Promise<Row[]> {
  // With connections of its own for each merchant, their number would grow as well.
  const agent = new Agent({ connections: callers, pipelining: 1 });
  const all: ManyMembers[] = [];
  const percentIdle = async () => {
    await settled(bench);
    await sleep(idle.settleMs);
    const used = cpuMeter(bench.pids);
    await sleep(idle.watchedMs);
    return { ours: ((used().worker ?? 0) / (idle.watchedMs / 1_000)) * 100, yardstick: null };
  };
  const rows = await measureGrowth(bench, {
    what: 'merchants',
    sizes,
    async at(size) {
      while (all.length < size) all.push(await seed(bench, await aMerchant(bench, { agent }), membersOfEach));
      const { lines, close } = await linesOf(bench, { all }, rounds);
      return {
        lines: [{ name: 'idle worker', unit: '% of a core', of: 'all', measure: percentIdle }, ...lines],
        close,
      };
    },
  });
  await agent.close();
  return rows;
}
