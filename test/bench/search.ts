// Reads of one member and searches by words, with ten thousand members and a million, compared with the bare driver
// with the same filters. The driver reads the API key first, because the key may have been revoked.
import { MongoClient } from 'mongodb';
import type { ApiKeyRow } from '../../schemas/access/access.rows.js';
import type { MemberRow, MemberSearchWordRow } from '../../schemas/members/members.rows.js';
import { maxSearchLevel, prefixRange } from '../../schemas/members/searchWords.rules.js';
import { sha256 } from '../../schemas/shared/ids.js';
import type { Bench } from './bench.js';
import { type Compared, closedLoop, ofMedians, ownOf, sideBySide, sooner } from './load.js';
import { type ManyMembers, rareMembers, rareName, seedMany } from './manyMembers.js';
import type { BenchMerchant } from './merchant.js';
import { memoryOf } from './processes.js';
import { type Row, round } from './row.js';

const pageSize = 25;
/** The query as a user types it. */
const typed = rareName.slice(0, 6).toLowerCase();
export const reads = ['member', 'serial', 'q'] as const;
export type Read = (typeof reads)[number];

export interface ReadRounds {
  rounds: number;
  ms: number;
}

interface Chosen {
  merchant: BenchMerchant;
  member: MemberRow;
}

export interface Reads {
  compare: (read: Read, rounds: ReadRounds) => Promise<Compared>;
  close: () => Promise<void>;
}

/** Reads of any of these merchants and members. */
export async function readsOf(bench: Bench, all: readonly ManyMembers[]): Promise<Reads> {
  const mongo = new MongoClient(bench.deps.config.MONGODB_URI);
  const db = mongo.db(bench.deps.config.MONGODB_DATABASE);
  const members = db.collection<MemberRow>('members');
  const memberSearchWords = db.collection<MemberSearchWordRow>('memberSearchWords');
  const apiKeys = db.collection<ApiKeyRow>('apiKeys');
  const anyMember = (): Chosen => {
    const { merchant, some } = ownOf(all, 0, 1);
    return { merchant, member: ownOf(some, 0, 1) };
  };
  const get = (merchant: BenchMerchant, path: string) =>
    merchant.call({ method: 'GET', path: `/merchants/me/members${path}` });
  const expectTotal = async (answer: Promise<string>, total: number) => {
    const found = JSON.parse(await answer).data.total;
    if (found !== total) throw new Error(`${found} were found where ${total} are.`);
  };
  const ours: Record<Read, (of: Chosen) => Promise<unknown>> = {
    member: ({ merchant, member }) => get(merchant, `/${member._id}`),
    serial: ({ merchant, member }) => expectTotal(get(merchant, `?serial=${member.memberCode}`), 1),
    q: ({ merchant }) => expectTotal(get(merchant, `?q=${typed}&pageSize=${pageSize}`), rareMembers),
  };
  const bare: Record<Read, (of: Chosen) => Promise<unknown>> = {
    member: ({ merchant, member }) => members.findOne({ _id: member._id, merchantId: merchant.id }),
    serial: ({ merchant, member }) => members.findOne({ merchantId: merchant.id, memberCode: member.memberCode }),
    async q({ merchant: { id: merchantId } }) {
      const levels = Array.from({ length: maxSearchLevel + 1 }, (_, level) => level);
      const found = (
        await Promise.all(
          levels.map((level) => memberSearchWords.find({ merchantId, level, word: prefixRange(typed) }).toArray()),
        )
      ).flat();
      const ids = found.slice(0, pageSize).map(({ memberId }) => memberId);
      return members.find({ _id: { $in: ids }, merchantId }).toArray();
    },
  };
  const hashes = new Map(all.map(({ merchant }) => [merchant, sha256(merchant.key)]));
  const mine = (read: Read) => () => ours[read](anyMember());
  const keyAnd = (read: Read) => async () => {
    const chosen = anyMember();
    await apiKeys.findOne({ hash: hashes.get(chosen.merchant) ?? '' });
    await bare[read](chosen);
  };
  return {
    async compare(read, { rounds, ms }) {
      await closedLoop({ callers: 1, ms: ms / 3 }, mine(read));
      await closedLoop({ callers: 1, ms: ms / 3 }, keyAnd(read));
      return sideBySide({
        pids: bench.pids,
        rounds,
        ours: () => closedLoop({ callers: 1, ms }, mine(read)),
        yardstick: () => closedLoop({ callers: 1, ms }, keyAnd(read)),
        better: sooner,
      });
    },
    close: () => mongo.close(),
  };
}

const shownRead: Record<Read, string> = {
  member: 'GET member',
  serial: 'GET members?serial=',
  q: `GET members?q=, ${rareMembers} matches`,
};

export interface SearchSize extends ReadRounds {
  /** Members of each merchant, in ascending order. */
  counts: readonly number[];
}

export async function benchSearch(bench: Bench, { counts, ...rounds }: SearchSize): Promise<Row[]> {
  const { merchants, seconds } = await seedMany(bench, counts);
  const p50s = new Map<string, number>();
  const rows: Row[] = [];
  for (const read of reads)
    for (const at of merchants) {
      const side = await readsOf(bench, [at]);
      const { ours, yardstick, cpu, ratios } = await side.compare(read, rounds);
      await side.close();
      const ratio = ofMedians(ours, yardstick);
      p50s.set(`${read} ${at.count}`, ours.latency.p50);
      rows.push({
        scenario: `${shownRead[read]} of ${at.count.toLocaleString('en')} members, p50; the bare driver, key and rows`,
        ours: ours.latency.p50,
        yardstick: yardstick.latency.p50,
        ratio: round(ratio),
        ...ratios(ofMedians),
        unit: 'ms',
        goal: '>= 0.33',
        reached: ratio >= 1 / 3,
        latency: ours.latency,
        yardstickLatency: yardstick.latency,
        cpu,
        memory: memoryOf(bench.pids),
      });
    }
  const [firstRow] = rows;
  if (firstRow) firstRow.note = `${Math.round(seconds)} s to write the members and their indexes.`;
  const [few = 0, many] = counts;
  const growth = reads.flatMap((read): Row[] => {
    if (many === undefined) return [];
    const [atFew = 0, atMany = 0] = [few, many].map((count) => p50s.get(`${read} ${count}`));
    return [
      {
        scenario: `${shownRead[read]}, ${many.toLocaleString('en')} members; ${few.toLocaleString('en')}`,
        ours: atMany,
        yardstick: atFew,
        ratio: round(atFew / atMany),
        unit: 'ms',
        goal: '>= 0.2',
        reached: atFew / atMany >= 0.2,
      },
    ];
  });
  await Promise.all(merchants.map(({ merchant }) => merchant.close()));
  return [...rows, ...growth];
}
