// Creates the members of an import, some chunks at a time in the order of the file. It hands back every few seconds, so that the
// workflow can tell how far it is.

import { isFinished } from '../../schemas/batches.js';
import type { BatchRow } from '../../schemas/collections.js';
import { ServiceError } from '../../schemas/errors.js';
import type { ImportStep } from '../../schemas/workflows.js';
import { recentProgram } from '../programs.js';
import type { WorkerDeps } from '../workerDeps.js';
import { createChunks } from './createChunks.js';
import { nonRetryable, type StepInput, takeSteps } from './takeSteps.js';

const together = 4;

/** Throws ApplicationFailure PROGRAM_NOT_FOUND and BATCH_NOT_FOUND, which no retry can help. */
export async function createImported(deps: WorkerDeps, input: StepInput): Promise<ImportStep> {
  const { batchId } = input;
  await deps.rows.batches.updateOne(
    { _id: batchId, phase: 'queued' },
    { $set: { phase: 'creating', phaseStartedAt: deps.now() } },
  );
  // The count of some chunks waits for the disk while the next ones are created.
  let counted: Promise<void> | undefined;
  const step = await takeSteps(deps, input, async (batch, chunk) => {
    if (batch.cancelRequestedAt || isFinished(batch.phase)) return 'stop';
    const program = await programOf(deps, batch);
    const count = Math.min(together, (batch.chunks ?? 0) - chunk);
    const work = () => Promise.all([createChunks(deps, { batch, program, from: chunk, count }), counted]);
    const [created] = await deps.courtesy.bulk(work, input.callOff);
    const { merchantId } = batch;
    counted = created > 0 ? deps.countMembers({ merchantId, programId: program._id, created }) : undefined;
    // Heard of with the next ones.
    counted?.catch(() => {});
    return chunk + count;
  });
  await counted;
  return step;
}

async function programOf(deps: WorkerDeps, { merchantId, programId = '' }: BatchRow) {
  try {
    return await recentProgram(deps, { merchantId, programId });
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'PROGRAM_NOT_FOUND') throw nonRetryable(error);
    throw error;
  }
}
