// The changes of one merchant next to another one that is as loud as it can be, compared with the same changes without
// it.
import { type Bench, settled } from './bench.js';
import { importSides } from './import.js';
import { ownOf, paced } from './load.js';
import { addMembers, aMerchant } from './merchant.js';
import { type Row, ratiosOf, round, type Spread } from './row.js';

const callers = 64;
const quiet = { callers: 8, perSecond: 20 };
const importedRows = 1_000;

interface Loud {
  callers: number;
  work: (caller: number) => Promise<unknown>;
}

export interface NeighbourSize {
  rounds: number;
  ms: number;
}

export async function benchNeighbour(bench: Bench, { rounds, ms }: NeighbourSize): Promise<Row[]> {
  const [loud, neighbour] = await Promise.all([aMerchant(bench, { callers }), aMerchant(bench)]);
  const theirs = await addMembers(bench, { program: loud.program, count: 640 });
  const mine = await addMembers(bench, { program: neighbour.program, count: 640 });
  const imports = await importSides(bench, loud);
  const loudly: Record<string, Loud> = {
    'changes points': { callers, work: (caller) => loud.award(ownOf(theirs, caller, callers)._id) },
    'lists its members': { callers, work: () => loud.call({ method: 'GET', path: '/merchants/me/members' }) },
    imports: { callers: 1, work: () => imports.ours(importedRows) },
  };
  const measure = async () =>
    (await paced({ ...quiet, ms }, (caller) => neighbour.award(ownOf(mine, caller, quiet.callers)._id))).latency;
  const nextTo = async ({ callers, work }: Loud) => {
    let over = false;
    const loop = async (caller: number) => {
      while (!over) await work(caller);
    };
    const loops = Promise.all(Array.from({ length: callers }, (_, caller) => loop(caller)));
    loops.catch(() => undefined);
    try {
      return await Promise.race([measure(), loops.then(() => Promise.reject(new Error('It was not loud.')))]);
    } finally {
      over = true;
      await loops.then(() => settled(bench));
    }
  };

  await measure();
  const rows: Row[] = [];
  for (const [name, way] of Object.entries(loudly)) {
    const [alone, next]: [Spread[], Spread[]] = [[], []];
    for (let index = 0; index < rounds; index += 1) {
      alone.push(await measure());
      await settled(bench);
      next.push(await nextTo(way));
    }
    rows.push(neighbourRow(`next to one that ${name}`, alone, next));
    bench.soFar(rows);
  }
  await Promise.all([imports.close(), loud.close(), neighbour.close()]);
  return rows;
}

function neighbourRow(where: string, alone: Spread[], next: Spread[]): Row {
  const best = (spreads: Spread[]) => spreads.reduce((one, other) => (other.p95 < one.p95 ? other : one));
  const [without, withIt] = [best(alone), best(next)];
  const ratio = without.p95 / withIt.p95;
  const ratios = ratiosOf(alone.map(({ p95 }, index) => p95 / (next[index]?.p95 ?? Number.NaN)));
  return {
    scenario: `a merchant's points changes ${where}, p95; without it`,
    ours: withIt.p95,
    yardstick: without.p95,
    ratio: round(ratio),
    ...(ratios && { ratios }),
    unit: 'ms',
    goal: '>= 0.83',
    reached: ratio >= 1 / 1.2,
    latency: withIt,
    yardstickLatency: without,
  };
}
