// The end of an import, told once, and what is left to do after it: passes that a wallet did not take.
import { type BatchPhase, isFinished } from '../../schemas/batches.js';
import { importId } from '../../schemas/ids.js';
import { newFence } from '../claimEvents.js';
import { finishBatch } from '../finishBatch.js';
import { issueBoth } from '../wallets/issuePasses.js';
import type { WorkerDeps } from '../workerDeps.js';
import { createdOf, publish, recordCarried } from './carryImported.js';
import { countsIn, createdSoFar, readChunk } from './createChunks.js';

export interface FinishImport {
  batchId: string;
  /** Why creating stopped early; absent when it came to its end. */
  failure?: string;
}

export interface FinishedImport {
  phase: BatchPhase;
  eventId: string;
  /** Passes of created members are still to be issued. */
  unissued: boolean;
}

/** Throws ApplicationFailure BATCH_NOT_FOUND. */
export async function finishImport(deps: WorkerDeps, input: FinishImport): Promise<FinishedImport> {
  const { batchId } = input;
  await countRows(deps, { batchId });
  const finished = await finishBatch(deps, { ...input, holder: importId(batchId) });
  const batch = await deps.rows.batches.findOne({ _id: batchId });
  if (!batch) throw new Error('A batch that is over is kept.');
  const { counts, passIssuance, dryRun } = batch;
  const unissued = !dryRun && (passIssuance.apple < counts.created || passIssuance.google < counts.created);
  return { ...finished, unissued };
}

/**
 * A row that was never looked at did not become a member, so it counts as failed, and errors.csv has it. What is over keeps its
 * counts: its chunks are not kept for ever.
 */
async function countRows(deps: WorkerDeps, { batchId }: { batchId: string }): Promise<void> {
  const batch = await deps.rows.batches.findOne({ _id: batchId });
  if (!batch || isFinished(batch.phase)) return;
  const soFar = await createdSoFar(deps, { batchId });
  const counts = { ...countsIn(soFar), 'counts.failed': batch.counts.total - soFar.created - soFar.deduped };
  await deps.rows.batches.updateOne({ _id: batchId }, { $set: counts });
}

/** Throws while a wallet still does not take a pass. */
export async function issueImportedLate(
  deps: WorkerDeps,
  { batchId, callOff }: { batchId: string; callOff: AbortSignal },
): Promise<void> {
  const batch = await deps.rows.batches.findOne({ _id: batchId });
  const holder = importId(batchId);
  let left = 0;
  for (let chunk = 0; batch && chunk < (batch.chunks ?? 0); chunk += 1) {
    const row = await readChunk(deps, { batchId, chunk });
    const memberIds = createdOf(row).map((entry) => entry.memberId);
    const { apple, google } = row.carried ?? { apple: 0, google: 0 };
    if (apple === memberIds.length && google === memberIds.length) continue;
    const fence = newFence();
    const { eventIds, unissued } = await issueBoth(deps, { memberIds, holder, fence });
    await publish(deps, { holder, fence, eventIds, callOff });
    await recordCarried(deps, { batch, row, memberIds });
    left += unissued.length;
  }
  if (left > 0) throw new Error(`Passes of ${left} imported members were not taken.`);
}
