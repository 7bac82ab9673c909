// Owns the schedules: of the relays, one for each shard, so that one that an operator ended, or a server lost, is back within
// the interval; and of what is looked after now and then.
import { type Client, type IntervalSpec, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import { relayId } from '../schemas/ids.js';
import { taskQueues, type WorkflowInputs, type WorkflowName } from '../schemas/workflows.js';

export async function ensureRelays(client: Client, shards: number): Promise<void> {
  for (let shard = 0; shard < shards; shard += 1) {
    await ensureSchedule(client, {
      id: relayId(shard),
      name: 'relay',
      input: { shard },
      interval: { every: '20s' },
      atOnce: true,
      summary: `relay of shard ${shard}`,
    });
  }
}

/** Phones that were pushed and did not fetch are looked for this often. */
export async function ensureRepush(client: Client): Promise<void> {
  await ensureSchedule(client, {
    id: 'repush',
    name: 'repushPasses',
    input: {},
    interval: { every: '30s' },
    atOnce: true,
    summary: 'push stale phones again',
  });
}

/** What Google has saved is compared this often; a callback may be on its way for the patience. */
export async function ensureReconciliation(client: Client): Promise<void> {
  await ensureSchedule(client, {
    id: 'reconcile-saves',
    name: 'reconcileSaves',
    input: { patienceMs: 600_000 },
    interval: { every: '6h', offset: '1h' },
    atOnce: false,
    summary: 'compare saved passes with Google',
  });
}

/** Totals and tags are put right once a day, at night in UTC. */
export async function ensureRecount(client: Client): Promise<void> {
  await ensureSchedule(client, {
    id: 'recount',
    name: 'recount',
    input: {},
    interval: { every: '24h', offset: '3h' },
    atOnce: false,
    summary: 'put totals and tags right',
  });
}

/** Batches that lost their workflow get it back this often. */
export async function ensureRevival(client: Client): Promise<void> {
  await ensureSchedule(client, {
    id: 'revive-batches',
    name: 'reviveBatches',
    input: {},
    interval: { every: '30s' },
    atOnce: true,
    summary: 'take up batches that lost their workflow',
  });
}

interface ScheduleOf<N extends WorkflowName> {
  id: string;
  name: N;
  input: WorkflowInputs[N];
  interval: IntervalSpec;
  /** Runs when the worker starts too. */
  atOnce: boolean;
  summary: string;
}

async function ensureSchedule<N extends WorkflowName>(client: Client, schedule: ScheduleOf<N>): Promise<void> {
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
