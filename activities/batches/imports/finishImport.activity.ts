// Ends an import with one event, and afterwards issues the passes that a wallet did not accept.
import { ApplicationFailure } from '@temporalio/common';
import type { UpdateFilter } from 'mongodb';
import type { BatchRow } from '../../../schemas/batches/batches.rows.js';
import { type BatchPhase, isFinished } from '../../../schemas/batches/batches.schema.js';
import { importId } from '../../../schemas/shared/ids.js';
import { requireActiveMerchant } from '../../access/suspended.reads.js';
import { newFence } from '../../events/leases.writes.js';
import { clearIssueDue } from '../../events/lostRetries.writes.js';
import { issueBoth } from '../../wallets/issuePasses.activity.js';
import type { WorkerDeps } from '../../workerDeps.js';
import { finishBatch } from '../finishBatch.activity.js';
import { keptForPassesMs, keptMs } from '../removeRows.writes.js';
import { requireBatch } from '../requireBatch.reads.js';
import { batchCountFields, countsOfCreated, readChunk } from './createChunks.writes.js';
import { emptyErasedRows } from './erasedRows.writes.js';
import { createdOf, publish, recordPublished } from './publishImported.activity.js';

export interface FinishImport {
  batchId: string;
  /** Why the creation of members stopped early; absent when it ran to its end. */
  failure?: string;
}

export interface FinishedImport {
  phase: BatchPhase;
  eventId: string;
  /** True when created members still have no pass. */
  unissued: boolean;
}

/** Throws ApplicationFailure BATCH_NOT_FOUND. */
export async function finishImport(deps: WorkerDeps, input: FinishImport): Promise<FinishedImport> {
  const { batchId } = input;
  await countRows(deps, { batchId });
  const finished = await finishBatch(deps, { ...input, leaseOwner: importId(batchId) });
  const batch = await requireBatch(deps, batchId);
  const { counts, passIssuance } = batch;
  if (batch.done < counts.total) await emptyErasedRows(deps, batchId);
  const unissued = passIssuance.apple < counts.created || passIssuance.google < counts.created;
  if (unissued) await changeKept(deps, batch, { $set: { unissued, rowsUntil: afterIssuing(deps) } });
  return { ...finished, unissued };
}

/**
 * Sets the final counts. A row that was not processed did not become a member, so it counts as failed and appears in
 * errors.csv. A finished batch keeps its counts, since its chunks are deleted after some time.
 */
async function countRows(deps: WorkerDeps, { batchId }: { batchId: string }): Promise<void> {
  const batch = await deps.collections.batches.findOne({ _id: batchId });
  if (!batch || isFinished(batch.phase)) return;
  const { cumulative } = await countsOfCreated(deps, { batchId });
  const counts = {
    ...batchCountFields(cumulative),
    'counts.failed': batch.counts.total - cumulative.created - cumulative.deduped,
  };
  await deps.collections.batches.updateOne({ _id: batchId, phase: batch.phase }, { $set: counts });
}

const afterIssuing = (deps: WorkerDeps): Date => new Date(deps.now().getTime() + keptForPassesMs);

/** Changes the batch unless its rows were removed. */
async function changeKept(deps: WorkerDeps, { _id }: BatchRow, change: UpdateFilter<BatchRow>): Promise<void> {
  await deps.collections.batches.updateOne({ _id, rowsUntil: { $exists: true } }, change);
}

/** How long one attempt works, so that the late passes of one merchant hold no slot for long. */
const lateWorkMs = 10_000;
/** When the next attempt begins after one that issued passes. */
const goOnMs = 500;

export interface IssueLate {
  batchId: string;
  /** Where the attempt before this one stopped; absent at the first. */
  progress?: LateProgress | undefined;
  save: (progress: LateProgress) => void;
  cancellationSignal: AbortSignal;
}

export interface LateProgress {
  /** The chunk to look at next. */
  next: number;
  /** How many chunks before it, all around, miss no pass. */
  complete: number;
}

/**
 * Issues missing passes of an import for some seconds. Throws while a pass is missing; the next attempt goes on where
 * this one stopped.
 */
export async function issueImportedLate(
  deps: WorkerDeps,
  { batchId, progress, save, cancellationSignal }: IssueLate,
): Promise<void> {
  const batch = await deps.collections.batches.findOne({ _id: batchId });
  if (!batch?.rowsUntil) return;
  await changeKept(deps, batch, { $set: { rowsUntil: afterIssuing(deps) } });
  await requireActiveMerchant(deps, batch);
  const leaseOwner = importId(batchId);
  const until = performance.now() + lateWorkMs;
  const chunks = batch.chunks ?? 0;
  let { next: chunk, complete } = progress ?? { next: 0, complete: 0 };
  let issued = 0;
  for (let looked = 0; looked < chunks && complete < chunks && performance.now() < until; looked += 1) {
    let isComplete = true;
    const row = await readChunk(deps, { batchId, chunk });
    const memberIds = createdOf(row).map((entry) => entry.memberId);
    const { apple, google } = row.passCounts ?? { apple: 0, google: 0 };
    if (apple < memberIds.length || google < memberIds.length) {
      const fence = newFence();
      const { newEventIds, unissued } = await issueBoth(deps, { memberIds, leaseOwner, fence });
      await publish(deps, { leaseOwner, fence, eventIds: newEventIds, cancellationSignal });
      await recordPublished(deps, { batch, row, memberIds });
      await clearIssueDue(
        deps,
        memberIds.filter((id) => !unissued.includes(id)),
      );
      issued += newEventIds.length;
      isComplete = unissued.length === 0;
    }
    chunk = (chunk + 1) % chunks;
    complete = isComplete ? complete + 1 : 0;
    save({ next: chunk, complete });
  }
  if (complete >= chunks) {
    const rowsUntil = new Date((batch.finishedAt ?? deps.now()).getTime() + keptMs);
    await changeKept(deps, batch, { $set: { rowsUntil }, $unset: { unissued: '' } });
    return;
  }
  throw ApplicationFailure.create({
    message: 'Passes of imported members are still missing.',
    ...(issued > 0 && { nextRetryDelay: goOnMs }),
  });
}
