// Starts the workflows of batches. MongoDB is the record and Temporal does the work: when the workflow of an unfinished
// batch is missing, because it was terminated, lost or never started, it is started again. The workflow reads from the
// database how far the batch was.

import type { Deps } from '../../platform/deps.js';
import type { StartWorkflow, WorkflowClient } from '../../platform/temporal/workflowClient.js';
import type { BatchKind } from '../../schemas/batches.js';
import type { BatchRow } from '../../schemas/collections.js';
import { ServiceError } from '../../schemas/errors.js';
import { campaignId, importId, rebuildId, replayId } from '../../schemas/ids.js';
import { insertBatch, unfinished } from './insertBatch.js';

type StartBatchDeps = Deps & { workflowClient: WorkflowClient };

const workflows = {
  'members.import': { name: 'importMembers', idOf: importId },
  'webhooks.replay': { name: 'replayDeliveries', idOf: replayId },
  campaign: { name: 'sendCampaign', idOf: campaignId },
  'passes.rebuild': { name: 'rebuildPasses', idOf: rebuildId },
} as const satisfies Record<BatchKind, { name: string; idOf: (batchId: string) => string }>;

type BatchWorkflow = (typeof workflows)[BatchKind]['name'];

function workflowOf(batch: BatchRow, summary: string): StartWorkflow<BatchWorkflow> {
  const { _id: batchId, merchantId, kind, programId, subscriptionId, fingerprint } = batch;
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
    // An import with a fingerprint has a caller who waits for its result.
    priority: fingerprint === undefined ? 5 : 1,
    fairnessKey: merchantId,
  };
}

/** Throws UNAVAILABLE while Temporal is unavailable, so that no batch is accepted that cannot be started. */
export function requireTemporal({ workflowClient }: Pick<StartBatchDeps, 'workflowClient'>): void {
  if (!workflowClient.available()) throw new ServiceError('UNAVAILABLE');
}

/**
 * Starts the workflow of a queued batch. When the start fails, its outcome is not certain: `takeBack` must end the
 * batch unless its workflow has begun, and return whether it ended the batch. Throws UNAVAILABLE when the batch was
 * ended.
 */
export async function startQueued(
  deps: StartBatchDeps,
  { batch, summary, takeBack }: { batch: BatchRow; summary: string; takeBack: () => Promise<boolean> },
): Promise<void> {
  try {
    await deps.workflowClient.start(workflowOf(batch, summary));
  } catch (error) {
    if (!(await takeBack())) return;
    deps.log.warn({ err: error, batchId: batch._id, merchantId: batch.merchantId }, 'a batch could not be started');
    throw new ServiceError('UNAVAILABLE');
  }
}

export type NewBatch = Pick<
  BatchRow,
  '_id' | 'merchantId' | 'kind' | 'programId' | 'subscriptionId' | 'startedBy' | 'campaign' | 'replay'
>;

/**
 * Stores a new batch and starts its workflow. Throws RATE_LIMITED, and UNAVAILABLE; then the batch was not stored, or was
 * removed again.
 */
export async function startBatch(
  deps: StartBatchDeps,
  { batch, summary }: { batch: NewBatch; summary: string },
): Promise<BatchRow> {
  requireTemporal(deps);
  const row: BatchRow = {
    ...batch,
    phase: 'queued',
    counts: { total: 0, created: 0, deduped: 0, failed: 0 },
    passIssuance: { apple: 0, google: 0 },
    done: 0,
    startedAt: deps.now(),
  };
  await insertBatch(deps, row);
  const takeBack = async () =>
    (await deps.collections.batches.deleteOne({ _id: row._id, phase: 'queued' })).deletedCount === 1;
  await startQueued(deps, { batch: row, summary, takeBack });
  return row;
}

/** A younger batch is skipped: the request that created it may still be starting it. */
const settledMs = 30_000;
const revivedAtOnce = 200;

/**
 * Called by a schedule. Starts the workflows of unfinished batches that do not run. It looks at 200 batches at most.
 */
export async function reviveBatches(deps: StartBatchDeps): Promise<{ unfinished: number }> {
  const before = new Date(deps.now().getTime() - settledMs);
  const found = await deps.collections.batches
    .find({ phase: { $in: unfinished }, startedAt: { $lt: before } })
    .limit(revivedAtOnce)
    .toArray();
  for (const batch of found) {
    if (batch.phase !== 'storing') await deps.workflowClient.start(workflowOf(batch, `${batch.kind}, started again`));
  }
  return { unfinished: found.length };
}
