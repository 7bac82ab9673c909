// Memory and processor time of API and worker without requests, and the actions that they cost at Temporal.
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { actionsOf } from '../rig/checks/actions.js';
import { type Bench, settled } from './bench.js';
import { cpuMeter, memoryOf } from './processes.js';
import { type Row, round } from './row.js';

export interface IdleSize {
  /** V8 continues to clean up for about a minute after a start. */
  settleMs: number;
  watchedMs: number;
}

/** How many actions were begun since then, and how many activities run, each of which beats its heart. */
async function actionsSince(address: string, since: Date): Promise<{ actions: number; running: number }> {
  const connection = await Connection.connect({ address });
  const { workflow } = new Client({ connection });
  const found = { actions: 0, running: 0 };
  for await (const { workflowId, runId } of workflow.list()) {
    const { pendingActivities } = (await workflow.getHandle(workflowId, runId).describe()).raw;
    found.running += pendingActivities?.length ?? 0;
    const { events } = await workflow.getHandle(workflowId, runId).fetchHistory();
    found.actions += actionsOf((events ?? []).filter(({ eventTime }) => tsToMs(eventTime) >= since.getTime()));
  }
  await connection.close();
  return found;
}

export async function benchIdle(bench: Bench, { settleMs, watchedMs }: IdleSize): Promise<Row[]> {
  await settled(bench);
  await sleep(settleMs);
  const since = new Date();
  const used = cpuMeter(bench.pids);
  await sleep(watchedMs);
  const cpu = used();
  const memory = memoryOf(bench.pids);
  const { actions, running } = await actionsSince(bench.temporalAddress, since);
  const aDay = Math.round((actions * 86_400_000) / watchedMs);
  const atTemporal: Row = {
    ...{ scenario: 'idle: actions of workflows a day', ours: aDay, unit: `, ${running} activities running` },
    ...{ yardstick: null, ratio: null, goal: '<= 1000', reached: aDay <= 1_000 && running === 0 },
  };
  const ofProcesses = (['api', 'worker'] as const).flatMap((name): Row[] => {
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
  return [...ofProcesses, atTemporal];
}
