// Memory and processor time of API and worker without requests.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, settled } from './bench.js';
import { cpuMeter, memoryOf } from './processes.js';
import { type Row, round } from './row.js';

export interface IdleSize {
  /** V8 continues to clean up for about a minute after a start. */
  settleMs: number;
  watchedMs: number;
}

export async function benchIdle(bench: Bench, { settleMs, watchedMs }: IdleSize): Promise<Row[]> {
  await settled(bench);
  await sleep(settleMs);
  const used = cpuMeter(bench.pids);
  await sleep(watchedMs);
  const cpu = used();
  const memory = memoryOf(bench.pids);
  return (['api', 'worker'] as const).flatMap((name): Row[] => {
    const megabytes = memory[name] ?? 0;
    const percent = ((cpu[name] ?? 0) / (watchedMs / 1_000)) * 100;
    const row = { yardstick: null, ratio: null };
    return [
      {
        ...row,
        scenario: `idle ${name}: memory`,
        ours: megabytes,
        unit: 'MB',
        goal: '< 200',
        reached: megabytes < 200,
      },
      {
        ...row,
        scenario: `idle ${name}: processor`,
        ours: round(percent),
        unit: '% of a core',
        goal: '< 2',
        reached: percent < 2,
      },
    ];
  });
}
