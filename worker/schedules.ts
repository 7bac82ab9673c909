// Creates the schedules when the worker starts: one for the relay of each shard, and those of the periodic jobs. A
// relay that an operator terminated, or that a server lost, runs again within its interval of 20 s.
import { type Client, type IntervalSpec, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import type { Wallets } from '../activities/wallets/wallets.js';
import { relayId } from '../schemas/ids.js';
import { taskQueues, type WorkflowInputs, type WorkflowName } from '../schemas/workflows.js';

interface ScheduleOf<N extends WorkflowName> {
  id: string;
  name: N;
  input: WorkflowInputs[N];
  interval: IntervalSpec;
  /** Also runs when a worker starts. */
  triggerOnStart: boolean;
  summary: string;
}
type Schedule = { [N in WorkflowName]: ScheduleOf<N> }[WorkflowName];

const relay = (shard: number): Schedule => ({
  id: relayId(shard),
  name: 'relay',
  input: { shard },
  interval: { every: '20s' },
  triggerOnStart: true,
  summary: `relay of shard ${shard}`,
});

const recount: Schedule = {
  id: 'recount',
  name: 'recount',
  input: {},
  // At 03:00 UTC.
  interval: { every: '24h', offset: '3h' },
  triggerOnStart: false,
  summary: 'put totals and tags right',
};

const revival: Schedule = {
  id: 'revive-batches',
  name: 'reviveBatches',
  input: {},
  interval: { every: '30s' },
  triggerOnStart: true,
  summary: 'take up batches that lost their workflow',
};

const cleaning: Schedule = {
  id: 'remove-batch-rows',
  name: 'removeBatchRows',
  input: {},
  // An upload is taken for broken off after 20 s, and shall be gone within a minute.
  interval: { every: '15s' },
  triggerOnStart: true,
  summary: 'end uploads that broke off, and remove rows that no batch needs',
};

const repush: Schedule = {
  id: 'repush',
  name: 'repushPasses',
  input: {},
  interval: { every: '30s' },
  triggerOnStart: true,
  summary: 'push stale phones again',
};

const classUpdates: Schedule = {
  id: 'update-classes',
  name: 'updateClasses',
  input: {},
  interval: { every: '30s' },
  triggerOnStart: true,
  summary: 'update the classes of changed programs',
};

const reconciliation: Schedule = {
  id: 'reconcile-saves',
  name: 'reconcileSaves',
  // Google's callback about a save may arrive up to 10 minutes late.
  input: { callbackGraceMs: 600_000 },
  interval: { every: '6h', offset: '1h' },
  triggerOnStart: false,
  summary: 'compare saved passes with Google',
};

const follow: Schedule = {
  id: 'follow-google',
  name: 'followGoogle',
  input: {},
  interval: { every: '20s' },
  triggerOnStart: true,
  summary: "keep Google's objects up to date",
};

export interface EnsureSchedules {
  relayShards: number;
  wallets: Pick<Wallets, 'apple' | 'google'>;
}

export async function ensureSchedules(
  client: Client,
  { relayShards, wallets: { apple, google } }: EnsureSchedules,
): Promise<void> {
  const ofGoogle = google ? [reconciliation, classUpdates, follow] : [];
  const periodic = [recount, revival, cleaning, ...(apple ? [repush] : []), ...ofGoogle];
  await Promise.all([
    ensureRelays(client, relayShards),
    ...periodic.map((schedule) => ensureSchedule(client, schedule)),
  ]);
}

export async function ensureRelays(client: Client, shards: number): Promise<void> {
  await Promise.all(Array.from({ length: shards }, (_, shard) => ensureSchedule(client, relay(shard))));
}

async function ensureSchedule(client: Client, schedule: Schedule): Promise<void> {
  const { id: scheduleId, name: workflowType, input, interval, triggerOnStart, summary } = schedule;
  try {
    await client.schedule.create({
      scheduleId,
      spec: { intervals: [interval] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: triggerOnStart ? '1m' : '12h' },
      action: {
        type: 'startWorkflow',
        workflowType,
        workflowId: scheduleId,
        args: [input],
        taskQueue: taskQueues.workflows,
        workflowTaskTimeout: '3s',
        staticSummary: summary,
      },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
  // Triggered separately, not by `create`: Temporal does not count a run that `create` triggers as running, so the next
  // interval would start the workflow a second time.
  if (triggerOnStart) await client.schedule.getHandle(scheduleId).trigger(ScheduleOverlapPolicy.SKIP);
}
