// Sends past events of a merchant to one subscription again.
import type { RunBatch } from '../../schemas/tables/workflows.js';
import { batches, replays } from '../shared/activityOptions.js';
import { runBatch } from './runBatch.js';

export function replayDeliveries(input: RunBatch): Promise<{ phase: string }> {
  const { snapshotReplay: snapshotTargets } = batches;
  const { replayEvents: step } = replays;
  return runBatch(input, { snapshotTargets, step, progressLabel: 'events were sent again' });
}
