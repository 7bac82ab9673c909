// Owns the schedules: of the relays, one for each shard, so that one that an operator ended, or a server lost, is back within
// the interval; and of what is looked after now and then.
import { type Client, type IntervalSpec, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import type { Wallets } from '../activities/wallets/wallets.js';
import { relayId } from '../schemas/ids.js';
import { taskQueues, type WorkflowInputs, type WorkflowName } from '../schemas/workflows.js';

interface ScheduleOf<N extends WorkflowName> {
  id: string;
  name: N;
  input: WorkflowInputs[N];
  interval: IntervalSpec;
  /** Runs when the worker starts too. */
  atOnce: boolean;
  summary: string;
}
type Schedule = { [N in WorkflowName]: ScheduleOf<N> }[WorkflowName];

const relay = (shard: number): Schedule => ({
  id: relayId(shard),
  name: 'relay',
  input: { shard },
  interval: { every: '20s' },
  atOnce: true,
  summary: `relay of shard ${shard}`,
});

const recount: Schedule = {
  id: 'recount',
  name: 'recount',
  input: {},
  // At night in UTC.
  interval: { every: '24h', offset: '3h' },
  atOnce: false,
  summary: 'put totals and tags right',
};

const revival: Schedule = {
  id: 'revive-batches',
  name: 'reviveBatches',
  input: {},
  interval: { every: '30s' },
  atOnce: true,
  summary: 'take up batches that lost their workflow',
};

const repush: Schedule = {
  id: 'repush',
  name: 'repushPasses',
  input: {},
  interval: { every: '30s' },
  atOnce: true,
  summary: 'push stale phones again',
};

const reconciliation: Schedule = {
  id: 'reconcile-saves',
  name: 'reconcileSaves',
  // A callback may be on its way for so long.
  input: { patienceMs: 600_000 },
  interval: { every: '6h', offset: '1h' },
  atOnce: false,
  summary: 'compare saved passes with Google',
};

export interface EnsureSchedules {
  relayShards: number;
  wallets: Pick<Wallets, 'apple' | 'google'>;
}

export async function ensureSchedules(
  client: Client,
  { relayShards, wallets: { apple, google } }: EnsureSchedules,
): Promise<void> {
  const looked = [recount, revival, ...(apple ? [repush] : []), ...(google ? [reconciliation] : [])];
  await Promise.all([ensureRelays(client, relayShards), ...looked.map((schedule) => ensureSchedule(client, schedule))]);
}

export async function ensureRelays(client: Client, shards: number): Promise<void> {
  await Promise.all(Array.from({ length: shards }, (_, shard) => ensureSchedule(client, relay(shard))));
}

async function ensureSchedule(client: Client, schedule: Schedule): Promise<void> {
  const { id: scheduleId, name: workflowType, input, interval, atOnce, summary } = schedule;
  try {
    await client.schedule.create({
      scheduleId,
      spec: { intervals: [interval] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: atOnce ? '1m' : '12h' },
      action: {
        type: 'startWorkflow',
        workflowType,
        workflowId: scheduleId,
        args: [input],
        taskQueue: taskQueues.gestures,
        workflowTaskTimeout: '3s',
        staticSummary: summary,
      },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
  // Not as part of its making: what runs from there is not counted as running, and the next interval starts it once more.
  if (atOnce) await client.schedule.getHandle(scheduleId).trigger(ScheduleOverlapPolicy.SKIP);
}
