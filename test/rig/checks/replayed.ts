// Replays recorded executions with the workflow code of a bundle. Temporal's replayer runs this code on the thread of
// its caller, and leaves there a hook that compiles a function for each promise that is made or settled from then on.
// The files of a fork share their process, so each later test would be slower.
import type { HistoryAndWorkflowId } from '@temporalio/client';
import { type ReplayResult, type ReplayWorkerOptions, Worker } from '@temporalio/worker';
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';

export async function* replayed(
  options: ReplayWorkerOptions,
  histories: readonly HistoryAndWorkflowId[],
): AsyncGenerator<ReplayResult> {
  try {
    yield* Worker.runReplayHistories(options, histories);
  } finally {
    globalHandlers.uninstall();
  }
}
