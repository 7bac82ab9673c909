// Breaks guarantee 3 of docs/architecture.md: no schedule keeps the relay running.
import { ScheduleClient } from '@temporalio/client';

Object.assign(ScheduleClient.prototype, {
  async create(): Promise<void> {},
  getHandle: () => ({ trigger: async () => {} }),
});
