// Around every activity: what it throws reaches Temporal's histories, so it goes through plainError; what it logs carries the
// workflow that it works for.
import { asyncLocalStorage } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { plainError } from '../activities/plainError.js';

export const plainErrors: ActivityInterceptorsFactory = () => ({
  inbound: {
    async execute(input, next) {
      try {
        return await next(input);
      } catch (error) {
        throw plainError(error);
      }
    },
  },
});

/** Fields for a log line that is written inside an activity; none outside. */
export function activityFields(): Record<string, unknown> {
  const info = asyncLocalStorage.getStore()?.info;
  return info ? { workflowId: info.workflowExecution?.workflowId, activity: info.activityType } : {};
}
