// The rates of Temporal alone on this machine: an empty workflow, and an update-with-start with one local activity.
import { Client, Connection, WithStartWorkflowOperation } from '@temporalio/client';
import { newId } from '../../schemas/shared/ids.js';
import type { Bench } from './bench.js';
import { startChild } from './child.js';

export interface TemporalYardstick {
  /** Starts one workflow and waits until it is done. */
  empty: () => Promise<void>;
  /** Returns the id of the workflow. */
  updateWithStart: () => Promise<string>;
  close: () => Promise<void>;
}

export async function temporalYardstick({
  processes,
  temporalAddress: address,
}: Pick<Bench, 'processes' | 'temporalAddress'>): Promise<TemporalYardstick> {
  const { child } = await startChild(processes, 'yardstickWorker.ts', [address]);
  const connection = await Connection.connect({ address });
  const client = new Client({ connection });
  const taskQueue = 'yardstick';
  return {
    async empty() {
      await client.workflow.execute('empty', { taskQueue, workflowId: newId(), args: [] });
    },
    async updateWithStart() {
      const workflowId = newId();
      const startWorkflowOperation = new WithStartWorkflowOperation('answering', {
        taskQueue,
        workflowId,
        args: [],
        workflowIdConflictPolicy: 'USE_EXISTING',
      });
      await client.workflow.executeUpdateWithStart('result', { updateId: 'result', startWorkflowOperation });
      return workflowId;
    },
    async close() {
      await connection.close();
      await child.stop();
    },
  };
}
