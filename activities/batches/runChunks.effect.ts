// One activity call of a batch: runs chunks, from where the previous call stopped, for about 3 s.

import type { BatchRow } from '../../schemas/batches/batches.rows.js';
import { isFinished } from '../../schemas/batches/batches.schema.js';
import type { ChunkProgress } from '../../schemas/tables/workflows.js';
import { requireActiveMerchant } from '../access/suspended.reads.js';
import type { WorkerDeps } from '../workerDeps.js';
import { requireBatch } from './requireBatch.reads.js';

export interface RunSignals {
  /** Aborted when this worker stops: the current step is completed, and no further step is started. */
  shutdownSignal: AbortSignal;
  /** Aborted when the current step must be cancelled too. */
  cancellationSignal: AbortSignal;
}

export interface RunChunksInput extends RunSignals {
  batchId: string;
  from: number;
  /** Whether the step also runs for a batch that is to be cancelled. */
  despiteCancellation?: boolean;
}

export const maxRunMs = 3_000;

/** A chunk to repeat, and how long to wait before. */
interface Waiting {
  again: number;
  waitMs: number;
}

/**
 * `step` runs one or more chunks and returns the number of the next one, or `stop` to end the stage, or what to wait
 * for. A batch that has ended or is cancelled runs no step. Throws ApplicationFailure BATCH_NOT_FOUND, and
 * MERCHANT_SUSPENDED while the batch has to wait.
 */
export async function runChunks(
  deps: WorkerDeps,
  { batchId, from, shutdownSignal, cancellationSignal, despiteCancellation = false }: RunChunksInput,
  step: (batch: BatchRow, chunk: number) => Promise<number | 'stop' | Waiting>,
): Promise<ChunkProgress> {
  const until = performance.now() + maxRunMs;
  for (let chunk = from; ; ) {
    const batch = await requireBatch(deps, batchId);
    const isEnded = isFinished(batch.phase) || (batch.cancelRequestedAt !== undefined && !despiteCancellation);
    if (!isEnded) await requireActiveMerchant(deps, batch);
    const next = !isEnded && chunk < (batch.chunks ?? 0) ? await step(batch, chunk) : 'stop';
    const over = next === 'stop';
    const waiting = typeof next === 'object' ? next : undefined;
    if (typeof next === 'number') chunk = next;
    const { total, created } = batch.counts;
    const progress: ChunkProgress = {
      next: chunk,
      over,
      total,
      created,
      done: batch.done,
      completedMembers: batch.completedMembers ?? 0,
      ...(waiting && { next: waiting.again, waitMs: waiting.waitMs }),
    };
    if (over || waiting || shutdownSignal.aborted || cancellationSignal.aborted || performance.now() > until)
      return progress;
  }
}
