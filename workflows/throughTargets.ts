// A batch over a list: the list is drawn up, then worked through in its order, then the merchant is told how it ended. It is
// told however it ends: cancelled, failed or completed. A long one goes on in a new run, so that no history grows without
// bound; how far it is stands in the database, never in the history alone.
import {
  CancellationScope,
  continueAsNew,
  isCancellation,
  log,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import type { ImportStep, RunBatch } from '../schemas/workflows.js';
import { batches, webhooks } from './activityOptions.js';

const stepsARun = 50;

export interface Stages {
  drawUp: (at: { batchId: string }) => Promise<{ total: number }>;
  step: (at: { batchId: string; from: number }) => Promise<ImportStep>;
  /** What is done to whom, for the operators: `messages sent`. */
  doing: string;
}

export async function throughTargets(input: RunBatch, { drawUp, step, doing }: Stages): Promise<{ phase: string }> {
  const { batchId, cursor } = input;
  const { workflowId: holder } = workflowInfo();

  const workThrough = async (): Promise<void> => {
    let from = cursor ?? 0;
    if (cursor === undefined) {
      setCurrentDetails('Drawing up the list.');
      await drawUp({ batchId });
    }
    for (let steps = 0; ; steps += 1) {
      if (steps >= stepsARun || workflowInfo().continueAsNewSuggested)
        await continueAsNew<(next: RunBatch) => Promise<{ phase: string }>>({ ...input, cursor: from });
      const { next, over, done, total } = await step({ batchId, from });
      setCurrentDetails(`${done} of ${total} ${doing}.`);
      if (over) return;
      from = next;
    }
  };

  const failure = await failureOf(workThrough);
  return CancellationScope.nonCancellable(async () => {
    const { phase, eventId } = await batches.finishBatch({
      batchId,
      holder,
      ...(failure !== undefined && { failure }),
    });
    await webhooks.publishEvents({ holder, eventIds: [eventId] });
    setCurrentDetails(`Ended: ${phase}.`);
    return { phase };
  });
}

/** An operator's cancel and a failure that no retry can help end the work, not the batch. */
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
