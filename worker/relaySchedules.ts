// Owns the schedules that keep one relay alive for each shard: a relay that an operator ended, or a server lost, is back
// within the interval.
import { type Client, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import { relayId } from '../schemas/ids.js';
import { taskQueues } from '../schemas/workflows.js';

const every = '20s';

export async function ensureRelays(client: Client, shards: number): Promise<void> {
  for (let shard = 0; shard < shards; shard += 1) {
    const scheduleId = relayId(shard);
    try {
      await client.schedule.create({
        scheduleId,
        spec: { intervals: [{ every }] },
        policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1m' },
        action: {
          type: 'startWorkflow',
          workflowType: 'relay',
          workflowId: scheduleId,
          args: [{ shard }],
          taskQueue: taskQueues.gestures,
          workflowTaskTimeout: '3s',
          staticSummary: `relay of shard ${shard}`,
        },
        state: { triggerImmediately: true },
      });
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      await client.schedule.getHandle(scheduleId).trigger(ScheduleOverlapPolicy.SKIP);
    }
  }
}
