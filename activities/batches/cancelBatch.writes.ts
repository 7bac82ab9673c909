// Reads one batch of a merchant, who started it, and requests its cancellation.

import type { Deps } from '../../platform/deps.js';
import { changeOne } from '../../platform/mongodb/changeOne.js';
import type { Actor } from '../../schemas/access/actor.schema.js';
import type { BatchRow } from '../../schemas/batches/batches.rows.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { unfinishedPhases } from '../access/batchRoom.writes.js';

export interface BatchAt {
  merchantId: string;
  batchId: string;
}

/** Throws BATCH_NOT_FOUND. */
export async function readBatch(deps: Deps, { merchantId, batchId }: BatchAt): Promise<BatchRow> {
  const batch = await deps.collections.batches.findOne({ _id: batchId, merchantId });
  if (!batch) throw new ServiceError('BATCH_NOT_FOUND');
  return batch;
}

/** Whether the batch of this id was started by the actor. */
export async function hasStarted(
  deps: Deps,
  { merchantId, batchId, actor }: BatchAt & { actor: Actor },
): Promise<boolean> {
  const by = { 'startedBy.type': actor.type, 'startedBy.id': actor.id };
  return (await deps.collections.batches.countDocuments({ _id: batchId, merchantId, ...by }, { limit: 1 })) === 1;
}

const cancellable = unfinishedPhases.filter((phase) => phase !== 'publishing');

/**
 * Requests the cancellation of a batch; its activities stop before their next step. A batch that has finished or is
 * publishing is not changed. Throws BATCH_NOT_FOUND.
 */
export async function cancelBatch(deps: Deps, at: BatchAt): Promise<BatchRow> {
  const { _id, merchantId } = await readBatch(deps, at);
  const going = { _id, merchantId, phase: { $in: cancellable }, cancelRequestedAt: { $exists: false } };
  await changeOne(deps, 'batches', going, { $set: { cancelRequestedAt: deps.now() } });
  return readBatch(deps, at);
}
