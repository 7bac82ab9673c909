// Memory and processor time of API and worker without requests, and the actions that they cost at Temporal.
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { actionsOf } from '../rig/checks/actions.js';
import { type Bench, settled } from './bench.js';
import { cpuMeter, memoryOf } from './processes.js';
import { type PerProcess, type Row, round } from './row.js';

export interface IdleSize {
  /** V8 continues to clean up for about a minute after a start. */
  settleMs: number;
  watchedMs: number;
}

export interface Actions {
  actions: number;
  workflows: number;
  /** How many activities run now, each of which beats its heart. */
  running: number;
}

/** The actions and workflows that began since then. */
export async function actionsSince(address: string, since: Date): Promise<Actions> {
  const connection = await Connection.connect({ address });
  const { workflow } = new Client({ connection });
  const found: Actions = { actions: 0, workflows: 0, running: 0 };
  const query = `ExecutionStatus = "Running" OR CloseTime >= "${since.toISOString()}"`;
  for await (const { workflowId, runId, startTime, closeTime } of workflow.list({ query })) {
    if (startTime >= since) found.workflows += 1;
    const handle = workflow.getHandle(workflowId, runId);
    if (!closeTime) found.running += (await handle.describe()).raw.pendingActivities?.length ?? 0;
    const { events } = await handle.fetchHistory();
    found.actions += actionsOf((events ?? []).filter(({ eventTime }) => tsToMs(eventTime) >= since.getTime()));
  }
  await connection.close();
  return found;
}

/** The row of the actions that began during `wait`, in which nothing else happens. */
export async function idleActions({ temporalAddress }: Bench, wait: () => Promise<unknown>): Promise<Row> {
  const since = new Date();
  await wait();
  const watchedMs = Date.now() - since.getTime();
  const { actions, running } = await actionsSince(temporalAddress, since);
  const aDay = Math.round((actions * 86_400_000) / watchedMs);
  return {
    ...{ scenario: 'idle: actions of workflows a day', ours: aDay, unit: `, ${running} activities running` },
    ...{ yardstick: null, ratio: null, goal: '<= 1000', reached: aDay <= 1_000 && running === 0 },
  };
}

export async function benchIdle(bench: Bench, { settleMs, watchedMs }: IdleSize): Promise<Row[]> {
  await settled(bench);
  await sleep(settleMs);
  const used = cpuMeter(bench.pids);
  let cpu: PerProcess = {};
  const atTemporal = await idleActions(bench, async () => {
    await sleep(watchedMs);
    cpu = used();
  });
  const memory = memoryOf(bench.pids);
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
