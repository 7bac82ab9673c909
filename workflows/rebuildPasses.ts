// The passes of a program after a change of its template: every one that somebody keeps is pushed, and fetched afresh.
import type { RunBatch } from '../schemas/workflows.js';
import { batches } from './activityOptions.js';
import { throughTargets } from './throughTargets.js';

export function rebuildPasses(input: RunBatch): Promise<{ phase: string }> {
  const { drawUpRebuild: drawUp, sendMessages: step } = batches;
  return throughTargets(input, { drawUp, step, doing: 'passes were pushed afresh' });
}
