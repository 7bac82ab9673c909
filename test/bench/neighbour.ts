// The changes of one merchant next to another one that is as loud as it can be, compared with the same changes without
// it.
import { type Bench, settled } from './bench.js';
import { importSides } from './import.js';
import { ownOf, paced } from './load.js';
import { addMembers, aMerchant } from './merchant.js';
import { type Row, type Spread, slowdownRow } from './row.js';

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
    const [without, withIt]: [Spread[], Spread[]] = [[], []];
    for (let index = 0; index < rounds; index += 1) {
      without.push(await measure());
      await settled(bench);
      withIt.push(await nextTo(way));
    }
    const scenario = `a merchant's points changes next to one that ${name}, p95; without it`;
    rows.push(slowdownRow({ withIt, without }, { of: 'p95', most: 1.2, scenario }));
    bench.soFar(rows);
  }
  await Promise.all([imports.close(), loud.close(), neighbour.close()]);
  return rows;
}
