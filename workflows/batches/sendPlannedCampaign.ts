// Sends a campaign that has an audience or a time to come. Its type and its activities are not those of other campaigns:
// a worker of a version that knows neither would send it at once and to all; a type that it does not know, it leaves to
// others.
import type { RunBatch } from '../../schemas/tables/workflows.js';
import { batches } from '../shared/activityOptions.js';
import { runBatch } from './runBatch.js';

export function sendPlannedCampaign(input: RunBatch): Promise<{ phase: string }> {
  const { snapshotPlannedCampaign: snapshotTargets, sendPlannedMessages: step } = batches;
  return runBatch(input, { snapshotTargets, step, progressLabel: 'members have the message' });
}
