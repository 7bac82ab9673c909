// Reads one batch of a merchant, who started it, and requests its cancellation.

import type { Deps } from '../../platform/deps.js';
import { changeOne } from '../../platform/mongodb/changeOne.js';
import { VersionConflict } from '../../platform/mongodb/conflicts.js';
import { insert, update } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { Actor } from '../../schemas/access/actor.schema.js';
import type { BatchRow } from '../../schemas/batches/batches.rows.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { unfinishedPhases } from '../access/batchRoom.writes.js';
import { endEventOf } from './endEvent.rules.js';

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
 * Ends a campaign whose time has not come. Returns null when it has begun or ended already. The relay publishes the
 * event.
 */
async function endScheduled(deps: Deps, batch: BatchRow): Promise<BatchRow | null> {
  if (batch.phase !== 'scheduled') return null;
  const { _id, merchantId } = batch;
  const now = deps.now();
  const end = {
    ...{ phase: 'cancelled' as const, reason: 'It was cancelled before its time.' },
    ...{ cancelRequestedAt: now, finishedAt: now },
  };
  const event = endEventOf(deps, { ...batch, ...end });
  try {
    const cancelled = update(deps, 'batches', { _id, merchantId, phase: 'scheduled' }, { $set: end });
    await transact(deps, [cancelled, insert(deps, 'events', event)], 1);
    return { ...batch, ...end };
  } catch (error) {
    if (error instanceof VersionConflict) return null;
    throw error;
  }
}

/**
 * Requests the cancellation of a batch; its activities stop before their next step. A scheduled batch ends at once. A
 * batch that has finished or is publishing is not changed. Throws BATCH_NOT_FOUND.
 */
export async function cancelBatch(deps: Deps, at: BatchAt): Promise<BatchRow> {
  const batch = await readBatch(deps, at);
  const ended = await endScheduled(deps, batch);
  if (ended) return ended;
  const { _id, merchantId } = batch;
  const going = { _id, merchantId, phase: { $in: cancellable }, cancelRequestedAt: { $exists: false } };
  await changeOne(deps, 'batches', going, { $set: { cancelRequestedAt: deps.now() } });
  return readBatch(deps, at);
}
