// Reads of one member and by words, at ten thousand members and at a million, beside the driver that reads the same documents
// with the same filters: the API key first, since it may have been revoked, and then what is asked for.
import { MongoClient } from 'mongodb';
import type { ApiKeyRow, MemberRow, MemberTokenRow } from '../../schemas/collections.js';
import { sha256 } from '../../schemas/ids.js';
import { prefixRange } from '../../schemas/searchWords.js';
import type { Bench, OwnStackOptions } from './bench.js';
import { type Compared, closedLoop, sideBySide, sooner } from './load.js';
import { type ManyMembers, rareMembers, rareName, startSeeded } from './manyMembers.js';
import { memoryOf } from './processes.js';
import { type Row, round } from './row.js';

const few = 10_000;
const pageSize = 25;
/** As one types it. */
const typed = rareName.slice(0, 6).toLowerCase();
export const reads = ['member', 'serial', 'q'] as const;
export type Read = (typeof reads)[number];

export interface Reads {
  compare: (read: Read, ms?: number) => Promise<Compared>;
  close: () => Promise<void>;
}

export async function readsOf(bench: Bench, { merchant, some }: ManyMembers): Promise<Reads> {
  const mongo = new MongoClient(bench.store.config.MONGODB_URI);
  const db = mongo.db(bench.store.config.MONGODB_DATABASE);
  const members = db.collection<MemberRow>('members');
  const memberTokens = db.collection<MemberTokenRow>('memberTokens');
  const apiKeys = db.collection<ApiKeyRow>('apiKeys');
  const { id: merchantId } = merchant;
  const hash = sha256(merchant.key);
  const any = (): MemberRow => {
    const member = some[Math.floor(Math.random() * some.length)];
    if (!member) throw new Error('There are no members.');
    return member;
  };
  const get = (path: string) => merchant.call({ method: 'GET', path: `/merchants/me/members${path}` });
  const expectTotal = async (answer: Promise<string>, total: number) => {
    const found = JSON.parse(await answer).data.total;
    if (found !== total) throw new Error(`${found} were found where ${total} are.`);
  };
  const ours: Record<Read, () => Promise<unknown>> = {
    member: () => get(`/${any()._id}`),
    serial: () => expectTotal(get(`?serial=${any().memberCode}`), 1),
    q: () => expectTotal(get(`?q=${typed}&pageSize=${pageSize}`), rareMembers),
  };
  const bare: Record<Read, () => Promise<unknown>> = {
    member: () => members.findOne({ _id: any()._id, merchantId }),
    serial: () => members.findOne({ merchantId, memberCode: any().memberCode }),
    async q() {
      const found = await memberTokens.find({ merchantId, token: prefixRange(typed) }).toArray();
      const ids = found.slice(0, pageSize).map(({ memberId }) => memberId);
      return members.find({ _id: { $in: ids }, merchantId }).toArray();
    },
  };
  const keyAnd = (reading: () => Promise<unknown>) => async () => {
    await apiKeys.findOne({ hash });
    await reading();
  };
  return {
    async compare(read, ms = 1_500) {
      await closedLoop({ callers: 1, ms: ms / 3 }, ours[read]);
      await closedLoop({ callers: 1, ms: ms / 3 }, keyAnd(bare[read]));
      return sideBySide({
        pids: bench.pids,
        rounds: 3,
        ours: () => closedLoop({ callers: 1, ms }, ours[read]),
        yardstick: () => closedLoop({ callers: 1, ms }, keyAnd(bare[read])),
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

export async function benchSearch({ manyMembers, ...options }: OwnStackOptions): Promise<Row[]> {
  const { bench, merchants, seconds } = await startSeeded(options, [few, manyMembers]);
  try {
    const p50s = new Map<string, number>();
    const rows: Row[] = [];
    for (const read of reads)
      for (const at of merchants) {
        const side = await readsOf(bench, at);
        const { ours, yardstick, cpu } = await side.compare(read);
        await side.close();
        const ratio = yardstick.latency.p50 / ours.latency.p50;
        p50s.set(`${read} ${at.count}`, ours.latency.p50);
        rows.push({
          scenario: `${shownRead[read]} of ${at.count.toLocaleString('en')} members, p50; the bare driver, key and rows`,
          ours: ours.latency.p50,
          yardstick: yardstick.latency.p50,
          ratio: round(ratio),
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
    if (firstRow) firstRow.note = `${Math.round(seconds)} s to write the members of both merchants and their indexes.`;
    const growth = reads.map((read): Row => {
      const [atFew = 0, atMany = 0] = [few, manyMembers].map((count) => p50s.get(`${read} ${count}`));
      return {
        scenario: `${shownRead[read]}, ${manyMembers.toLocaleString('en')} members; ${few.toLocaleString('en')}`,
        ours: atMany,
        yardstick: atFew,
        ratio: round(atFew / atMany),
        unit: 'ms',
        goal: '>= 0.2',
        reached: atFew / atMany >= 0.2,
      };
    });
    await Promise.all(merchants.map(({ merchant }) => merchant.close()));
    return [...rows, ...growth];
  } finally {
    await bench.stop();
  }
}
