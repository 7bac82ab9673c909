// Stores batches and starts their workflows. One that is missing is started again (reviveBatches.activity.ts).
import type { Deps } from '../../platform/deps.js';
import { Withdrawn } from '../../platform/fairLimit.js';
import type { StartWorkflow, WorkflowClient } from '../../platform/temporal/workflowClient.js';
import type { BatchRow } from '../../schemas/batches/batches.rows.js';
import type { BatchKind } from '../../schemas/batches/batches.schema.js';
import { type NewBatch, newBatchRow } from '../../schemas/batches/newBatch.rules.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { campaignId, cardMailsId, importId, rebuildId, replayId } from '../../schemas/shared/ids.js';
import { type BatchKey, findKeyedBatch } from './batchKeys.rules.js';
import { insertBatch } from './insertBatch.writes.js';

export type StartBatchDeps = Deps & { workflowClient: WorkflowClient };

const workflows = {
  'members.import': { name: 'importMembers', idOf: importId },
  'webhooks.replay': { name: 'replayDeliveries', idOf: replayId },
  campaign: { name: 'sendCampaign', idOf: campaignId },
  'cards.mail': { name: 'mailCards', idOf: cardMailsId },
  'passes.rebuild': { name: 'rebuildPasses', idOf: rebuildId },
} as const satisfies Record<BatchKind, { name: string; idOf: (batchId: string) => string }>;

type BatchWorkflow = (typeof workflows)[BatchKind]['name'] | 'sendPlannedCampaign';

const isPlanned = ({ sendAt, campaign }: BatchRow): boolean => sendAt !== undefined || campaign?.audience !== undefined;

export function workflowOf(batch: BatchRow, summary: string): StartWorkflow<BatchWorkflow> {
  const { _id: batchId, merchantId, kind, programId, subscriptionId, awaited } = batch;
  const { name, idOf } = workflows[kind];
  return {
    name: isPlanned(batch) ? 'sendPlannedCampaign' : name,
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
 * `check` throws for what is refused now, which an earlier request may have been allowed. Throws RATE_LIMITED, and
 * UNAVAILABLE; then the batch was not stored, or was removed again. Throws IDEMPOTENCY_KEY_REUSED.
 */
export async function startBatch(
  deps: StartBatchDeps,
  { batch, summary, key, check }: { batch: NewBatch; summary: string; key?: BatchKey; check?: () => void },
): Promise<BatchRow> {
  const earlier = key && (await findKeyedBatch(deps, key));
  if (earlier) return earlier;
  check?.();
  requireTemporal(deps);
  const row = newBatchRow(deps, batch);
  const stored = await insertBatch(deps, row, { key });
  if (stored._id !== row._id) return stored;
  // A workflow that waits for the time of its batch has marked it (targets.writes.ts).
  const untouched = { _id: row._id, phase: row.phase, phaseStartedAt: { $exists: false } };
  const takeBack = async () => (await deps.collections.batches.deleteOne(untouched)).deletedCount === 1;
  await startQueued(deps, { batch: row, summary, takeBack });
  return row;
}
