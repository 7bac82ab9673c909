// A stretch of a merchant's events, sent to one subscription again.
import type { RunBatch } from '../schemas/workflows.js';
import { batches } from './activityOptions.js';
import { throughTargets } from './throughTargets.js';

export function replayDeliveries(input: RunBatch): Promise<{ phase: string }> {
  const { drawUpReplay: drawUp, replayEvents: step } = batches;
  return throughTargets(input, { drawUp, step, doing: 'events were sent again' });
}
