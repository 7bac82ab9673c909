// Breaks expiry: no schedule expires points.
import { ScheduleClient } from '@temporalio/client';

const scheduleId = 'expire-points';
const intact = ScheduleClient.prototype;
const [create, getHandle] = [intact.create, intact.getHandle] as [
  (options: { scheduleId: string }) => Promise<unknown>,
  (id: string) => unknown,
];

Object.assign(ScheduleClient.prototype, {
  async create(this: ScheduleClient, options: { scheduleId: string }): Promise<unknown> {
    return options.scheduleId === scheduleId ? undefined : create.call(this, options);
  },
  getHandle(this: ScheduleClient, id: string): unknown {
    return id === scheduleId ? { trigger: async () => {} } : getHandle.call(this, id);
  },
});
