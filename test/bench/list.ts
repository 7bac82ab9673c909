// Pages of the member list with their totals, compared with the driver with the same sort and limit and without a
// total.
import { MongoClient } from 'mongodb';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { Bench } from './bench.js';
import { type Compared, closedLoop, ofMedians, sideBySide, sooner } from './load.js';
import { type ManyMembers, seedMany } from './manyMembers.js';
import { memoryOf } from './processes.js';
import { type Row, round } from './row.js';

const pageSize = 25;

export interface ListSize {
  /** Members of each merchant. */
  counts: readonly number[];
  pages: readonly number[];
  rounds: number;
  ms: number;
}

export interface PageRounds {
  page: number;
  rounds: number;
  ms: number;
}

export interface Pages {
  compare: (of: Pick<ManyMembers, 'merchant' | 'count'>, rounds: PageRounds) => Promise<Compared>;
  close: () => Promise<void>;
}

export function pagesOf(bench: Bench): Pages {
  const mongo = new MongoClient(bench.deps.config.MONGODB_URI);
  const members = mongo.db(bench.deps.config.MONGODB_DATABASE).collection<MemberRow>('members');
  return {
    async compare({ merchant, count }, { page, rounds, ms }) {
      const path = `/merchants/me/members?page=${page}&pageSize=${pageSize}`;
      const list = async () => {
        const { items, total } = JSON.parse(await merchant.call({ method: 'GET', path })).data;
        if (items.length !== pageSize || total !== count) throw new Error(`${items.length} of ${total} were listed.`);
      };
      const bare = () =>
        members
          .find({ merchantId: merchant.id })
          .sort({ createdAt: -1, _id: -1 })
          .skip((page - 1) * pageSize)
          .limit(pageSize)
          .toArray();
      const load = { callers: 1, ms };
      await list();
      await bare();
      return sideBySide({
        pids: bench.pids,
        rounds,
        ours: () => closedLoop(load, list),
        yardstick: () => closedLoop(load, bare),
        better: sooner,
      });
    },
    close: () => mongo.close(),
  };
}

export async function benchList(bench: Bench, { counts, pages, rounds, ms }: ListSize): Promise<Row[]> {
  const { merchants } = await seedMany(bench, counts);
  const side = pagesOf(bench);
  try {
    const rows: Row[] = [];
    for (const { merchant, count } of merchants)
      for (const page of pages) {
        const { ours, yardstick, cpu, ratios } = await side.compare({ merchant, count }, { page, rounds, ms });
        const ratio = ofMedians(ours, yardstick);
        rows.push({
          scenario: `page ${page} of ${count.toLocaleString('en')} members with the total, p50; the bare driver without it`,
          ours: ours.latency.p50,
          yardstick: yardstick.latency.p50,
          ratio: round(ratio),
          ...ratios(ofMedians),
          unit: 'ms',
          goal: '>= 1',
          reached: ratio >= 1,
          latency: ours.latency,
          yardstickLatency: yardstick.latency,
          cpu,
          memory: memoryOf(bench.pids),
        });
      }
    await Promise.all(merchants.map(({ merchant }) => merchant.close()));
    return rows;
  } finally {
    await side.close();
  }
}
