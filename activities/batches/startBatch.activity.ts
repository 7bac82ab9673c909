// Starts the workflows of batches. MongoDB holds the state and Temporal runs the work: a missing workflow of an
// unfinished batch (terminated, lost or never started) is started again, and reads from the database where to continue.

import type { Filter } from 'mongodb';
import type { Deps } from '../../platform/deps.js';
import { Withdrawn } from '../../platform/fairLimit.js';
import type { StartWorkflow, WorkflowClient } from '../../platform/temporal/workflowClient.js';
import { toChunks } from '../../platform/toChunks.js';
import type { BatchRow } from '../../schemas/batches/batches.rows.js';
import type { BatchKind } from '../../schemas/batches/batches.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { campaignId, importId, rebuildId, replayId } from '../../schemas/shared/ids.js';
import { type BatchKey, findKeyedBatch } from './batchKeys.rules.js';
import { insertBatch, unfinishedPhases } from './insertBatch.writes.js';

type StartBatchDeps = Deps & { workflowClient: WorkflowClient };

const workflows = {
  'members.import': { name: 'importMembers', idOf: importId },
  'webhooks.replay': { name: 'replayDeliveries', idOf: replayId },
  campaign: { name: 'sendCampaign', idOf: campaignId },
  'passes.rebuild': { name: 'rebuildPasses', idOf: rebuildId },
} as const satisfies Record<BatchKind, { name: string; idOf: (batchId: string) => string }>;

type BatchWorkflow = (typeof workflows)[BatchKind]['name'];

function workflowOf(batch: BatchRow, summary: string): StartWorkflow<BatchWorkflow> {
  const { _id: batchId, merchantId, kind, programId, subscriptionId, awaited } = batch;
  const { name, idOf } = workflows[kind];
  return {
    name,
    workflowId: idOf(batchId),
    input: { merchantId, batchId },
    summary,
    searchAttributes: {
      MerchantId: merchantId,
      BatchId: batchId,
      ...(programId && { ProgramId: programId }),
      ...(subscriptionId && { SubscriptionId: subscriptionId }),
    },
    priority: awaited ? 1 : 5,
    fairnessKey: merchantId,
  };
}

/** Throws UNAVAILABLE while Temporal is unavailable, so that no batch is accepted that cannot be started. */
export function requireTemporal({ workflowClient }: Pick<StartBatchDeps, 'workflowClient'>): void {
  if (!workflowClient.available()) throw new ServiceError('UNAVAILABLE');
}

/**
 * Starts the workflow of a queued batch. A failed start may still have reached Temporal, so `takeBack` must end the
 * batch unless its workflow has begun, and return whether it ended the batch. A batch whose start got no turn stays
 * queued; `reviveBatches` starts it within minutes. Throws UNAVAILABLE when the batch was ended.
 */
export async function startQueued(
  deps: StartBatchDeps,
  { batch, summary, takeBack }: { batch: BatchRow; summary: string; takeBack: () => Promise<boolean> },
): Promise<void> {
  try {
    await deps.workflowClient.start(workflowOf(batch, summary));
  } catch (error) {
    if (error instanceof Withdrawn || !(await takeBack())) return;
    deps.log.warn({ err: error, batchId: batch._id, merchantId: batch.merchantId }, 'a batch could not be started');
    throw new ServiceError('UNAVAILABLE');
  }
}

export type NewBatch = Pick<
  BatchRow,
  '_id' | 'merchantId' | 'kind' | 'programId' | 'subscriptionId' | 'startedBy' | 'campaign' | 'replay'
>;

export const newBatchRow = (deps: Pick<Deps, 'now'>, batch: NewBatch): BatchRow => ({
  ...batch,
  phase: 'queued',
  counts: { total: 0, created: 0, deduped: 0, failed: 0 },
  passIssuance: { apple: 0, google: 0 },
  done: 0,
  startedAt: deps.now(),
});

/** Starts the workflow of a batch that is stored already. When that fails, `reviveBatches` starts it within minutes. */
export async function startStored(
  deps: StartBatchDeps,
  { batch, summary }: { batch: BatchRow; summary: string },
): Promise<void> {
  if (!deps.workflowClient.available()) return;
  await deps.workflowClient
    .start(workflowOf(batch, summary))
    .catch((error: unknown) => deps.log.warn({ err: error, batchId: batch._id }, 'a batch is to be started later'));
}

/**
 * Stores a new batch and starts its workflow, or returns the batch that an earlier request with the key has started.
 * Throws RATE_LIMITED, and UNAVAILABLE; then the batch was not stored, or was removed again. Throws
 * IDEMPOTENCY_KEY_REUSED.
 */
export async function startBatch(
  deps: StartBatchDeps,
  { batch, summary, key }: { batch: NewBatch; summary: string; key?: BatchKey },
): Promise<BatchRow> {
  const earlier = key && (await findKeyedBatch(deps, key));
  if (earlier) return earlier;
  requireTemporal(deps);
  const row = newBatchRow(deps, batch);
  const stored = await insertBatch(deps, row, key);
  if (stored._id !== row._id) return stored;
  const takeBack = async () =>
    (await deps.collections.batches.deleteOne({ _id: row._id, phase: 'queued' })).deletedCount === 1;
  await startQueued(deps, { batch: row, summary, takeBack });
  return row;
}

/** Younger batches are skipped: the request that created one may still be starting it. */
const settledMs = 30_000;
/** The batches of one call, in the order of their ids. */
const mostOfCall = 500;
const revivedAtOnce = 20;
/** Well below the activity's timeout. */
const workMs = 10_000;

export interface RevivedBatches {
  revived: number;
  /** The last batch that was checked; absent at the end. */
  next?: string;
}

/**
 * Starts the missing workflows of batches that have work left, from `after` on. A batch that fails does not delay the
 * others.
 */
export async function reviveBatches(deps: StartBatchDeps, { after = '' }: { after?: string }): Promise<RevivedBatches> {
  const { batches } = deps.collections;
  const until = performance.now() + workMs;
  const before = new Date(deps.now().getTime() - settledMs);
  const idsOf = (where: Filter<BatchRow>) =>
    batches
      .find({ ...where, _id: { $gt: after } }, { projection: { _id: 1 } })
      .sort({ _id: 1 })
      .limit(mostOfCall)
      .toArray();
  const found = await Promise.all([
    idsOf({ phase: { $in: unfinishedPhases }, startedAt: { $lt: before } }),
    idsOf({ unissued: true }),
  ]);
  const ids = [...new Set(found.flat().map(({ _id }) => _id))].toSorted().slice(0, mostOfCall);
  let revived = 0;
  for (const some of toChunks(ids, revivedAtOnce)) {
    const rows = await batches.find({ _id: { $in: some } }).toArray();
    await Promise.all(rows.map((batch) => revive(deps, batch)));
    revived += some.length;
    if (performance.now() > until) break;
  }
  const next = ids[revived - 1];
  const isEnd = revived === ids.length && ids.length < mostOfCall;
  return { revived, ...(!isEnd && next !== undefined && { next }) };
}

async function revive(deps: StartBatchDeps, batch: BatchRow): Promise<void> {
  try {
    if (batch.phase !== 'storing') await deps.workflowClient.start(workflowOf(batch, `${batch.kind}, started again`));
  } catch (error) {
    deps.log.warn({ err: error, batchId: batch._id }, 'a batch could not be started again; the next run tries it');
  }
}
