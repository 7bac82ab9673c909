// Owns the schedules that keep one relay alive for each shard: a relay that an operator ended, or a server lost, is back
// within the interval.
import { type Client, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import type { Duration } from '@temporalio/common';
import { relayId } from '../schemas/ids.js';
import { taskQueues, type WorkflowInputs, type WorkflowName } from '../schemas/workflows.js';

const every = '20s';

export async function ensureRelays(client: Client, shards: number): Promise<void> {
  for (let shard = 0; shard < shards; shard += 1) {
    await ensureSchedule(client, {
      id: relayId(shard),
      name: 'relay',
      input: { shard },
      every,
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
    every: '30s',
    summary: 'push stale phones again',
  });
}

interface ScheduleOf<N extends WorkflowName> {
  id: string;
  name: N;
  input: WorkflowInputs[N];
  every: Duration;
  summary: string;
}

async function ensureSchedule<N extends WorkflowName>(client: Client, schedule: ScheduleOf<N>): Promise<void> {
  const { id: scheduleId, name: workflowType, input, summary } = schedule;
  try {
    await client.schedule.create({
      scheduleId,
      spec: { intervals: [{ every: schedule.every }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1m' },
      action: {
        type: 'startWorkflow',
        workflowType,
        workflowId: scheduleId,
        args: [input],
        taskQueue: taskQueues.gestures,
        workflowTaskTimeout: '3s',
        staticSummary: summary,
      },
      state: { triggerImmediately: true },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await client.schedule.getHandle(scheduleId).trigger(ScheduleOverlapPolicy.SKIP);
  }
}
