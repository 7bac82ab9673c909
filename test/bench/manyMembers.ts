// Merchants with as many members as a scenario wants, on a stack of their own; the rows and their indexes are the service's.
import type { MemberRow } from '../../schemas/collections.js';
import { type Bench, type BenchOptions, log, startBench } from './bench.js';
import { aMerchant, aNewMember, type BenchMerchant } from './merchant.js';

const insertedTogether = 500;
const insertersAtOnce = 2;

/** How many members of each merchant bear `rareName`, evenly spread over all. */
export const rareMembers = 40;
export const rareName = 'Quetzalcoatl';

export interface ManyMembers {
  merchant: BenchMerchant;
  count: number;
  /** Some hundred of them. */
  some: MemberRow[];
}

export interface SeededBench {
  bench: Bench;
  merchants: ManyMembers[];
  seconds: number;
}

export async function startSeeded(options: BenchOptions, counts: readonly number[]): Promise<SeededBench> {
  const bench = await startBench(options);
  try {
    const startedAt = performance.now();
    const merchants: ManyMembers[] = [];
    for (const count of counts) {
      log(`${count.toLocaleString('en')} members ...`);
      merchants.push(await seed(bench, count));
    }
    const seconds = (performance.now() - startedAt) / 1_000;
    log(`seeded in ${Math.round(seconds)} s`);
    return { bench, merchants, seconds };
  } catch (error) {
    await bench.stop();
    throw error;
  }
}

/** They came one a minute. */
async function seed(bench: Bench, count: number): Promise<ManyMembers> {
  const merchant = await aMerchant(bench);
  const { program } = merchant;
  const { members, memberTokens, counters } = bench.store.rows;
  const every = Math.floor(count / rareMembers);
  const now = Date.now();
  const some: MemberRow[] = [];
  const rowsAt = (at: number) => {
    const { member, tokens } = aNewMember(bench.store, program, at, at % every === 0 ? { lastName: rareName } : {});
    const createdAt = new Date(now - (count - at) * 60_000);
    return { member: { ...member, createdAt }, tokens: tokens.map((token) => ({ ...token, createdAt })) };
  };
  let next = 0;
  const insert = async () => {
    while (next < count) {
      const from = next;
      next += insertedTogether;
      const made = Array.from({ length: Math.min(insertedTogether, count - from) }, (_, index) => rowsAt(from + index));
      if (made[0] && some.length < 500) some.push(made[0].member);
      await Promise.all([
        members.insertMany(
          made.map(({ member }) => member),
          { ordered: false },
        ),
        memberTokens.insertMany(
          made.flatMap(({ tokens }) => tokens),
          { ordered: false },
        ),
      ]);
    }
  };
  await Promise.all(Array.from({ length: insertersAtOnce }, insert));
  await counters.insertMany(
    [merchant.id, `${merchant.id}:${program._id}`].map((_id) => ({ _id, merchantId: merchant.id, members: count })),
  );
  return { merchant, count, some };
}
