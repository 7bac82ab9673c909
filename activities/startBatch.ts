// A batch that an answer of the API stands for either begins or is not there: without Temporal it is refused, and one whose
// start was not confirmed is taken back unless its workflow has begun.
import type { BatchRow } from '../schemas/collections.js';
import { ServiceError } from '../schemas/errors.js';
import type { Store } from './deps.js';
import type { Starter, StartWorkflow } from './starter.js';

export type NewBatch = Pick<
  BatchRow,
  '_id' | 'merchantId' | 'kind' | 'programId' | 'subscriptionId' | 'startedBy' | 'campaign' | 'replay'
>;

export interface StartBatch {
  batch: NewBatch;
  name: 'sendCampaign' | 'replayDeliveries' | 'rebuildPasses';
  workflowId: string;
  summary: string;
}

/** Throws UNAVAILABLE; then nothing was begun. */
export async function startBatch(
  deps: Store & { starter: Starter },
  { batch, name, workflowId, summary }: StartBatch,
): Promise<BatchRow> {
  if (!deps.starter.available()) throw new ServiceError('UNAVAILABLE');
  const row: BatchRow = {
    ...batch,
    phase: 'queued',
    counts: { total: 0, created: 0, deduped: 0, failed: 0 },
    passIssuance: { apple: 0, google: 0 },
    done: 0,
    startedAt: deps.now(),
  };
  const { _id: batchId, merchantId, programId, subscriptionId } = row;
  const workflow: StartWorkflow<typeof name> = {
    name,
    workflowId,
    input: { merchantId, batchId },
    summary,
    searchAttributes: {
      MerchantId: merchantId,
      BatchId: batchId,
      ...(programId && { ProgramId: programId }),
      ...(subscriptionId && { SubscriptionId: subscriptionId }),
    },
    priority: 5,
    fairnessKey: merchantId,
  };
  await deps.rows.batches.insertOne(row);
  try {
    await deps.starter.start(workflow);
  } catch (error) {
    const { deletedCount } = await deps.rows.batches.deleteOne({ _id: batchId, phase: 'queued' });
    if (deletedCount === 0) return row;
    deps.log.warn({ err: error, batchId, merchantId }, 'a batch could not be started and was refused');
    throw new ServiceError('UNAVAILABLE');
  }
  return row;
}
