// Adds a message to the passes of all members who matched when the campaign began, and pushes these passes.
import type { RunBatch } from '../../schemas/tables/workflows.js';
import { batches } from '../shared/activityOptions.js';
import { runBatch } from './runBatch.js';

export function sendCampaign(input: RunBatch): Promise<{ phase: string }> {
  const { snapshotCampaign: snapshotTargets, sendMessages: step } = batches;
  return runBatch(input, { snapshotTargets, step, progressLabel: 'members have the message' });
}
