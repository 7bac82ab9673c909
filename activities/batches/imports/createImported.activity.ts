// Creates the members of an import, four chunks at a time in the order of the file. A call returns after about 3 s, so
// that the workflow can show its progress.

import type { BatchRow } from '../../../schemas/batches/batches.rows.js';
import { ServiceError } from '../../../schemas/shared/errors.js';
import type { ChunkProgress } from '../../../schemas/tables/workflows.js';
import { cachedProgram } from '../../programs/program.reads.js';
import { nonRetryable } from '../../shared/nonRetryable.rules.js';
import type { WorkerDeps } from '../../workerDeps.js';
import { type RunChunksInput, runChunks } from '../runChunks.effect.js';
import { createChunks } from './createChunks.writes.js';

const chunksPerStep = 4;

/** Throws ApplicationFailure PROGRAM_NOT_FOUND and BATCH_NOT_FOUND; neither is retried. */
export async function createImported(deps: WorkerDeps, input: RunChunksInput): Promise<ChunkProgress> {
  const { batchId } = input;
  await deps.collections.batches.updateOne(
    { _id: batchId, phase: 'queued' },
    { $set: { phase: 'creating', phaseStartedAt: deps.now() } },
  );
  // The write of one step's totals, which waits for the disk while the next step creates members.
  let counted: Promise<void> | undefined;
  const step = await runChunks(deps, input, async (batch, chunk) => {
    const program = await programOf(deps, batch);
    const count = Math.min(chunksPerStep, (batch.chunks ?? 0) - chunk);
    const [created] = await Promise.all([createChunks(deps, { batch, program, from: chunk, count }), counted]);
    const { merchantId } = batch;
    counted = created > 0 ? deps.countMembers({ merchantId, programId: program._id, created }) : undefined;
    // Prevents an unhandled rejection; the error is thrown where `counted` is awaited.
    counted?.catch(() => {});
    return chunk + count;
  });
  await counted;
  return step;
}

async function programOf(deps: WorkerDeps, { merchantId, programId = '' }: BatchRow) {
  try {
    return await cachedProgram(deps, { merchantId, programId });
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'PROGRAM_NOT_FOUND') throw nonRetryable(error);
    throw error;
  }
}
