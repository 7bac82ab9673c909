import type { Deps } from '../../platform/deps.js';
import type { BatchRow } from '../../schemas/batches/batches.rows.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { nonRetryable } from '../shared/nonRetryable.rules.js';

/** Throws ApplicationFailure BATCH_NOT_FOUND, which is not retried. */
export async function requireBatch(deps: Deps, batchId: string): Promise<BatchRow> {
  const batch = await deps.collections.batches.findOne({ _id: batchId });
  if (!batch) throw nonRetryable(new ServiceError('BATCH_NOT_FOUND'));
  return batch;
}
