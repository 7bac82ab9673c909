// Points changes while their requests are kept in the log of requests, compared with the same changes while they are
// not, by the same API.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, settled } from './bench.js';
import { type Measured, ofRates, type Rounds, sideBySide } from './load.js';
import { pointsSides } from './points.js';
import { added, cpuMeter, perThousand } from './processes.js';
import { type PerProcess, processorRow, type Row, round } from './row.js';

const callers = 64;
/** What was noted before is written in this time. */
const writtenMs = 500;

export const requestLogEnv = async (): Promise<NodeJS.ProcessEnv> => ({
  NODE_OPTIONS: `--import ${new URL('requestLogHook.mjs', import.meta.url).href}`,
});

const sumOf = (cpu: PerProcess): number => Object.values(cpu).reduce((sum, seconds) => sum + seconds, 0);

export async function benchRequestLog(bench: Bench, { rounds, oursMs, yardstickMs }: Rounds): Promise<Row[]> {
  const { ours: change, merchant, close } = await pointsSides(bench);
  const { requests } = bench.deps.collections;
  let cpuWithout: PerProcess = {};
  let changesWithout = 0;
  const kept = () => requests.countDocuments({ merchantId: merchant.id });
  async function withoutLog(ms: number): Promise<Measured> {
    const flip = async () => {
      await sleep(writtenMs);
      process.kill(bench.pids.api ?? 0, 'SIGUSR2');
    };
    await flip();
    const before = await kept();
    const used = cpuMeter(bench.pids);
    const measured = await change(callers, ms);
    await settled(bench);
    cpuWithout = added(cpuWithout, used());
    changesWithout += measured.operations;
    await flip();
    if ((await kept()) !== before) throw new Error('Requests were kept while the log was off.');
    return measured;
  }
  await change(callers, 1_500);
  await settled(bench);
  const { ours, yardstick, cpu, ratios } = await sideBySide({
    pids: bench.pids,
    rounds,
    ours: () => change(callers, oursMs),
    yardstick: () => withoutLog(yardstickMs),
    settle: () => settled(bench),
  });
  if ((await kept()) < ours.operations) throw new Error('Requests were not kept while the log was on.');
  await close();
  const rates = ofRates(ours, yardstick);
  return [
    {
      scenario: 'points accepted with the log of requests; without it',
      ours: round(ours.rate),
      yardstick: round(yardstick.rate),
      ratio: round(rates),
      ...ratios(ofRates),
      unit: 'changes/s',
      goal: '>= 0.95',
      reached: rates >= 0.95,
      latency: ours.latency,
      yardstickLatency: yardstick.latency,
      cpu,
    },
    processorRow(
      { ours: sumOf(cpu), yardstick: sumOf(perThousand(cpuWithout, changesWithout)) },
      {
        scenario: 'processor time of the same, all that follows included; without it',
        unit: 's per 1,000 changes',
        least: 0.95,
      },
    ),
  ];
}
