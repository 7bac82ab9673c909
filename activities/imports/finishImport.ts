// The end of an import, told once: its batch takes the phase it will keep, and `batch.completed` or `batch.failed` says what the
// batch says. Passes that a wallet did not take are issued after that.
import { type BatchPhase, isFinished } from '../../schemas/batches.js';
import type { BatchRow, EventRow } from '../../schemas/collections.js';
import { ServiceError } from '../../schemas/errors.js';
import { type EventData, shardOf } from '../../schemas/events.js';
import { derivedId, importId } from '../../schemas/ids.js';
import { insertNew } from '../insertNew.js';
import { graceMs } from '../newEvent.js';
import { issueApplePasses, issueGooglePasses } from '../wallets/issuePasses.js';
import type { WorkerDeps } from '../workerDeps.js';
import { createdOf, publish, recordCarried } from './carryImported.js';
import { readChunk } from './createChunk.js';
import { nonRetryable } from './takeSteps.js';

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

const cancelledReason = 'The import was cancelled before all of its rows were looked at.';

function endOf(batch: BatchRow, failure: string | undefined): { phase: BatchPhase; reason?: string } {
  if (failure === undefined && batch.done >= batch.counts.total) return { phase: 'completed' };
  if (failure === 'cancelled' || (failure === undefined && batch.cancelRequestedAt))
    return { phase: 'cancelled', reason: cancelledReason };
  return { phase: 'failed', reason: failure ?? 'Not all of the rows were looked at.' };
}

export async function finishImport(deps: WorkerDeps, { batchId, failure }: FinishImport): Promise<FinishedImport> {
  const batch = await ended(deps, { batchId, failure });
  const event = endEvent(deps, batch);
  await insertNew(deps.rows.events, [event]);
  const { counts, passIssuance, dryRun } = batch;
  const unissued = !dryRun && (passIssuance.apple < counts.created || passIssuance.google < counts.created);
  return { phase: batch.phase, eventId: event._id, unissued };
}

/** A row that was never looked at did not become a member, so it counts as failed, and errors.csv has it. */
async function ended(deps: WorkerDeps, { batchId, failure }: { batchId: string; failure: string | undefined }) {
  const batch = await deps.rows.batches.findOne({ _id: batchId });
  if (!batch) throw nonRetryable(new ServiceError('BATCH_NOT_FOUND'));
  const { total, created, deduped } = batch.counts;
  const left = { 'counts.failed': total - created - deduped };
  const end = isFinished(batch.phase) ? {} : { ...endOf(batch, failure), finishedAt: deps.now() };
  const row = await deps.rows.batches.findOneAndUpdate(
    { _id: batchId, phase: batch.phase },
    { $set: { ...left, ...end } },
    { returnDocument: 'after' },
  );
  if (!row) throw new Error('The batch changed while it ended.');
  return row;
}

function endEvent(deps: WorkerDeps, batch: BatchRow): EventRow {
  const { _id: batchId, kind, programId, merchantId, counts, passIssuance, startedAt, dryRun } = batch;
  const finishedAt = batch.finishedAt ?? deps.now();
  const data: EventData<'batch.completed'> = {
    batchId,
    kind,
    ...(programId && { programId }),
    merchantId,
    counts,
    passIssuance,
    startedAt: startedAt.toISOString(),
    finishedAt: finishedAt.toISOString(),
    ...(dryRun && { dryRun }),
  };
  const completed = batch.phase === 'completed';
  return {
    _id: derivedId('batch', batchId),
    merchantId,
    type: completed ? 'batch.completed' : 'batch.failed',
    ...(programId && { programId }),
    occurredAt: finishedAt,
    data: completed ? data : { ...data, reason: batch.reason ?? '' },
    state: 'new',
    holder: importId(batchId),
    dueAt: new Date(deps.now().getTime() + graceMs),
    shard: shardOf(merchantId, deps.config.RELAY_SHARDS),
  };
}

/** Throws while a wallet still does not take a pass. */
export async function issueImportedLate(
  deps: WorkerDeps,
  { batchId, callOff }: { batchId: string; callOff: AbortSignal },
): Promise<void> {
  const batch = await deps.rows.batches.findOne({ _id: batchId });
  const holder = importId(batchId);
  let unreached: unknown;
  for (let chunk = 0; batch && chunk < (batch.chunks ?? 0); chunk += 1) {
    const row = await readChunk(deps, { batchId, chunk });
    const memberIds = createdOf(row).map((entry) => entry.memberId);
    const { apple, google } = row.carried ?? { apple: 0, google: 0 };
    if (apple === memberIds.length && google === memberIds.length) continue;
    const issued = await Promise.allSettled([
      issueApplePasses(deps, { memberIds, holder }),
      issueGooglePasses(deps, { memberIds, holder }),
    ]);
    const eventIds = issued.flatMap((result) => (result.status === 'fulfilled' ? result.value.eventIds : []));
    await publish(deps, { holder, eventIds, callOff });
    await recordCarried(deps, { batch, row, memberIds });
    unreached ??= issued.find((result) => result.status === 'rejected')?.reason;
  }
  if (unreached !== undefined) throw unreached;
}
