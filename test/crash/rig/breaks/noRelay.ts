// Breaks guarantee 3 of docs/architecture.md: no relay is ever started.
import { WorkflowClient } from '@temporalio/client';

const { start } = WorkflowClient.prototype;

Object.assign(WorkflowClient.prototype, {
  start(this: WorkflowClient, ...given: Parameters<typeof start>) {
    return given[0] === 'relay' ? Promise.resolve() : start.apply(this, given);
  },
});
