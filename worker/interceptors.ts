// Wraps every activity. Errors of activities are stored in Temporal's histories, so redactError first removes the row
// values that MongoDB's errors quote. Log lines that an activity writes get the id of its workflow.
import { asyncLocalStorage } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { redactError } from '../platform/redactError.js';

export const redactErrors: ActivityInterceptorsFactory = () => ({
  inbound: {
    async execute(input, next) {
      try {
        return await next(input);
      } catch (error) {
        throw redactError(error);
      }
    },
  },
});

/** Fields for a log line that is written inside an activity; an empty object elsewhere. */
export function activityFields(): Record<string, unknown> {
  const info = asyncLocalStorage.getStore()?.info;
  return info ? { workflowId: info.workflowExecution?.workflowId, activity: info.activityType } : {};
}
