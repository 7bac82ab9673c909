// Pushes every saved pass of a program after its template changed.
import type { RunBatch } from '../../schemas/tables/workflows.js';
import { batches } from '../shared/activityOptions.js';
import { runBatch } from './runBatch.js';

export function rebuildPasses(input: RunBatch): Promise<{ phase: string }> {
  const { snapshotRebuild: snapshotTargets, sendMessages: step } = batches;
  return runBatch(input, { snapshotTargets, step, progressLabel: 'passes were pushed afresh' });
}
