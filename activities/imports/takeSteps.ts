// One activity's share of an import: chunk after chunk from where the last one stopped, for a few seconds.
import { ApplicationFailure } from '@temporalio/common';
import type { BatchRow } from '../../schemas/collections.js';
import { ServiceError } from '../../schemas/errors.js';
import type { ImportStep } from '../../schemas/workflows.js';
import type { WorkerDeps } from '../workerDeps.js';

export interface StepInput {
  batchId: string;
  from: number;
  /** Aborted when this worker stops: what runs is finished, nothing new is begun. */
  stopping: AbortSignal;
  /** Aborted when what runs must be called off. */
  callOff: AbortSignal;
}

const shareMs = 3_000;

export function nonRetryable({ code, message }: ServiceError): ApplicationFailure {
  return ApplicationFailure.create({ type: code, message, nonRetryable: true });
}

/**
 * `step` carries one chunk or some, and answers which one is next; `stop` ends the whole stage. Throws ApplicationFailure
 * BATCH_NOT_FOUND.
 */
export async function takeSteps(
  deps: WorkerDeps,
  { batchId, from, stopping, callOff }: StepInput,
  step: (batch: BatchRow, chunk: number) => Promise<number | 'stop'>,
): Promise<ImportStep> {
  const until = performance.now() + shareMs;
  for (let chunk = from; ; ) {
    const batch = await deps.rows.batches.findOne({ _id: batchId });
    if (!batch) throw nonRetryable(new ServiceError('BATCH_NOT_FOUND'));
    const next = chunk < (batch.chunks ?? 0) ? await step(batch, chunk) : 'stop';
    const over = next === 'stop';
    if (!over) chunk = next;
    const { total, created } = batch.counts;
    const stepped: ImportStep = {
      next: chunk,
      over,
      total,
      created,
      done: batch.done,
      carried: batch.carried ?? 0,
    };
    if (over || stopping.aborted || callOff.aborted || performance.now() > until) return stepped;
  }
}
