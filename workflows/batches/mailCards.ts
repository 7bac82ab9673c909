// Mails the members whom an import has created the link to their card, at the rate of the mails of their program.
import type { RunBatch } from '../../schemas/tables/workflows.js';
import { batches } from '../shared/activityOptions.js';
import { runBatch } from './runBatch.js';

export function mailCards(input: RunBatch): Promise<{ phase: string }> {
  const { snapshotCreated: snapshotTargets, mailCards: step } = batches;
  return runBatch(input, { snapshotTargets, step, progressLabel: 'people have their mail' });
}
