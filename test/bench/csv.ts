// Measures the CSV export of a timeline: the time to its first byte, and whether the API's memory stays constant over
// many exports.
import { Agent } from 'undici';
import { newId } from '../../schemas/shared/ids.js';
import type { Bench } from './bench.js';
import { addMembers, aMerchant } from './merchant.js';
import { cpuMeter, peakWhile, perThousand } from './processes.js';
import { type Row, round, spreadOf } from './row.js';

const rows = 5_000;
const insertedTogether = 500;
const memoryGoalMb = 20;

export interface CsvSize {
  /** The number of exports before each of the two memory readings. */
  exports: number;
}

export async function benchCsv(bench: Bench, { exports: exportsInAll }: CsvSize): Promise<Row[]> {
  const merchant = await aMerchant(bench);
  const [member] = await addMembers(bench, { program: merchant.program, count: 1 });
  if (!member) throw new Error('There is no member.');
  for (let at = 0; at < rows; at += insertedTogether)
    await bench.deps.collections.timeline.insertMany(
      Array.from({ length: insertedTogether }, (_, index) => ({
        _id: newId(),
        merchantId: merchant.id,
        memberId: member._id,
        type: 'points_changed',
        outcome: 'success' as const,
        detail: 'Five more for a cup of coffee, said the cashier',
        occurredAt: new Date(Date.now() - (at + index) * 1_000),
      })),
      { ordered: false },
    );
  const agent = new Agent({ connections: 1 });
  const path = `/api/v1/merchants/me/members/${member._id}/events.csv`;
  const download = async () => {
    const startedAt = performance.now();
    const headers = { 'x-api-key': merchant.key };
    const answer = await agent.request({ origin: bench.origin, path, method: 'GET', headers });
    let firstByteMs: number | undefined;
    let lines = 0;
    for await (const chunk of answer.body) {
      firstByteMs ??= performance.now() - startedAt;
      for (const byte of chunk as Buffer) if (byte === 10) lines += 1;
    }
    if (lines !== rows + 1) throw new Error(`The file has ${lines} lines.`);
    return { firstByteMs: firstByteMs ?? 0, ms: performance.now() - startedAt };
  };

  const many = async (times: number) => {
    const { made: downloads, peak } = await peakWhile(bench.pids, async () => {
      const all: { firstByteMs: number; ms: number }[] = [];
      for (let index = 0; index < times; index += 1) all.push(await download());
      return all;
    });
    return { peakMb: peak.api ?? 0, downloads };
  };

  const warm = await many(exportsInAll);
  const used = cpuMeter(bench.pids);
  const { peakMb, downloads } = await many(exportsInAll);
  const cpu = perThousand(used(), exportsInAll);
  await Promise.all([agent.close(), merchant.close()]);
  const firstByte = spreadOf(downloads.map(({ firstByteMs }) => firstByteMs));
  const grown = peakMb - warm.peakMb;
  const file = `events.csv of ${rows.toLocaleString('en')} rows`;
  return [
    {
      scenario: `${file}: first byte, p50`,
      ours: firstByte.p50,
      yardstick: null,
      ratio: null,
      unit: 'ms',
      goal: '< 50',
      reached: firstByte.p50 < 50,
      latency: firstByte,
      cpu,
      note: `The whole file takes ${spreadOf(downloads.map(({ ms }) => ms)).p50} ms (p50).`,
    },
    {
      scenario: `${file}: peak of the API's memory over ${exportsInAll} of them beyond that of ${exportsInAll} before`,
      ours: round(grown),
      yardstick: null,
      ratio: null,
      unit: 'MB',
      goal: `< ${memoryGoalMb}`,
      reached: grown < memoryGoalMb,
      note: `Peaks of ${round(warm.peakMb, 0)} and ${round(peakMb, 0)} MB.`,
    },
  ];
}
