// Pages of the list of members with their totals, beside the driver with the same sort and limit and no total.
import { MongoClient } from 'mongodb';
import type { MemberRow } from '../../schemas/collections.js';
import type { BenchOptions } from './bench.js';
import { closedLoop, sideBySide, sooner } from './load.js';
import { startSeeded } from './manyMembers.js';
import { memoryOf } from './processes.js';
import { type Row, round } from './row.js';

const pageSize = 25;
const counts = [10_000, 100_000];
const pages = [1, 400];

export async function benchList(options: BenchOptions): Promise<Row[]> {
  const { bench, merchants } = await startSeeded(options, counts);
  const mongo = new MongoClient(bench.store.config.MONGODB_URI);
  try {
    const members = mongo.db(bench.store.config.MONGODB_DATABASE).collection<MemberRow>('members');
    const rows: Row[] = [];
    for (const { merchant, count } of merchants)
      for (const page of pages) {
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
        const load = { callers: 1, ms: 2_000 };
        await list();
        await bare();
        const { ours, yardstick, cpu } = await sideBySide({
          pids: bench.pids,
          rounds: 3,
          ours: () => closedLoop(load, list),
          yardstick: () => closedLoop(load, bare),
          better: sooner,
        });
        const ratio = yardstick.latency.p50 / ours.latency.p50;
        rows.push({
          scenario: `page ${page} of ${count.toLocaleString('en')} members with the total, p50; the bare driver without it`,
          ours: ours.latency.p50,
          yardstick: yardstick.latency.p50,
          ratio: round(ratio),
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
    await mongo.close();
    await bench.stop();
  }
}
