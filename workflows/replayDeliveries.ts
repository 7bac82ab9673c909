// Sends past events of a merchant to one subscription again.
import type { RunBatch } from '../schemas/workflows.js';
import { batches } from './activityOptions.js';
import { runBatch } from './runBatch.js';

export function replayDeliveries(input: RunBatch): Promise<{ phase: string }> {
  const { snapshotReplay: snapshotTargets, replayEvents: step } = batches;
  return runBatch(input, { snapshotTargets, step, progressLabel: 'events were sent again' });
}
