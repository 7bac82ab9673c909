// Runs a batch over a list of targets: lists the targets, processes them in order, then publishes the result of the
// batch. The result is published in every case: completed, failed or cancelled. A long batch continues in a new run of
// the workflow, so that no history grows without limit; its progress is stored in the database, never only in the
// history.
import {
  CancellationScope,
  continueAsNew,
  isCancellation,
  log,
  setCurrentDetails,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { ChunkProgress, ListProgress, RunBatch } from '../../schemas/tables/workflows.js';
import { batches, webhooks } from '../shared/activityOptions.js';

const stepsPerRun = 50;

export interface Stages {
  snapshotTargets: (at: { batchId: string }) => Promise<ListProgress>;
  step: (at: { batchId: string; from: number }) => Promise<ChunkProgress>;
  /** The end of the progress line for operators: `5 of 10 members have the message.` */
  progressLabel: string;
}

export async function runBatch(
  input: RunBatch,
  { snapshotTargets, step, progressLabel }: Stages,
): Promise<{ phase: string }> {
  const { batchId, cursor } = input;
  const { workflowId: leaseOwner } = workflowInfo();

  const processTargets = async (): Promise<void> => {
    // Undefined until the list is complete.
    let from = cursor;
    for (let steps = 0; ; steps += 1) {
      if (steps >= stepsPerRun || workflowInfo().continueAsNewSuggested)
        await continueAsNew<(next: RunBatch) => Promise<{ phase: string }>>({
          ...input,
          ...(from !== undefined && { cursor: from }),
        });
      if (from === undefined) {
        const listed = await snapshotTargets({ batchId });
        if (listed.notBefore !== undefined) {
          setCurrentDetails(`Waits until ${new Date(listed.notBefore).toISOString()}.`);
          // By the clock: after a reset, or while no worker ran, a part of the wait is over.
          await sleep(Math.max(listed.notBefore - Date.now(), 1));
          continue;
        }
        setCurrentDetails(`Drawing up the list: ${listed.total} so far.`);
        if (listed.more) continue;
        from = 0;
      }
      const { next, over, done, total, waitMs } = await step({ batchId, from });
      setCurrentDetails(`${done} of ${total} ${progressLabel}.`);
      if (over) return;
      from = next;
      if (waitMs !== undefined) await sleep(waitMs);
    }
  };

  const failure = await failureOf(processTargets);
  return CancellationScope.nonCancellable(async () => {
    const { phase, eventId } = await batches.finishBatch({
      batchId,
      leaseOwner,
      ...(failure !== undefined && { failure }),
    });
    await webhooks.publishEvents({ leaseOwner, eventIds: [eventId] });
    setCurrentDetails(`Ended: ${phase}.`);
    return { phase };
  });
}

/**
 * Returns why the work stopped early, or undefined. A cancellation, and a failure that retries cannot help, end the
 * work but not the workflow, which still finishes the batch.
 */
export async function failureOf(work: () => Promise<void>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (isCancellation(error)) return 'cancelled';
    if (!(error instanceof Error) || error.name !== 'ActivityFailure') throw error;
    log.error('A batch failed.', { error: String(error.cause) });
    return error.cause instanceof Error ? error.cause.message : 'It failed.';
  }
}
