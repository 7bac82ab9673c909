// Merchants with any number of members, with the service's own rows and indexes.
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { type Bench, log } from './bench.js';
import { aMerchant, aNewMember, type BenchMerchant } from './merchant.js';

const insertedTogether = 500;
const insertersAtOnce = 2;
const someMembers = 2_000;

/** The number of members of each merchant with `rareName`, at equal distances. */
export const rareMembers = 40;
export const rareName = 'Quetzalcoatl';

export interface ManyMembers {
  merchant: BenchMerchant;
  count: number;
  /** At most 2,000 of the members, at equal distances. */
  some: MemberRow[];
}

export interface Seeded {
  merchants: ManyMembers[];
  seconds: number;
}

export async function seedMany(bench: Bench, counts: readonly number[]): Promise<Seeded> {
  const startedAt = performance.now();
  const merchants: ManyMembers[] = [];
  for (const count of counts) {
    log(`  ${count.toLocaleString('en')} members ...`);
    merchants.push(await seed(bench, await aMerchant(bench), count));
  }
  return { merchants, seconds: (performance.now() - startedAt) / 1_000 };
}

/** The members' creation times are one minute apart. Expects at least `rareMembers`. */
export async function seed(bench: Bench, merchant: BenchMerchant, count: number): Promise<ManyMembers> {
  const { program } = merchant;
  const { members, memberSearchWords, counters } = bench.deps.collections;
  const every = Math.floor(count / rareMembers);
  const isRare = (at: number) => at % every === 0 && at < every * rareMembers;
  const distance = Math.ceil(count / someMembers);
  const now = Date.now();
  const some: MemberRow[] = [];
  const rowsAt = (at: number) => {
    const { member, searchWordRows } = aNewMember(bench.deps, program, at, isRare(at) ? { lastName: rareName } : {});
    const createdAt = new Date(now - (count - at) * 60_000);
    if (at % distance === 0) some.push(member);
    return { member: { ...member, createdAt }, tokens: searchWordRows.map((token) => ({ ...token, createdAt })) };
  };
  let next = 0;
  const insert = async () => {
    while (next < count) {
      const from = next;
      next += insertedTogether;
      const made = Array.from({ length: Math.min(insertedTogether, count - from) }, (_, index) => rowsAt(from + index));
      await Promise.all([
        members.insertMany(
          made.map(({ member }) => member),
          { ordered: false },
        ),
        memberSearchWords.insertMany(
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
