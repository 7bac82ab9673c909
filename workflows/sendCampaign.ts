// A message onto the passes of everyone who matched when the campaign began.
import type { RunBatch } from '../schemas/workflows.js';
import { batches } from './activityOptions.js';
import { throughTargets } from './throughTargets.js';

export function sendCampaign(input: RunBatch): Promise<{ phase: string }> {
  const { drawUpCampaign: drawUp, sendMessages: step } = batches;
  return throughTargets(input, { drawUp, step, doing: 'members have the message' });
}
