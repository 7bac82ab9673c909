// MongoDB is the truth and Temporal the motor: a batch that is not over and whose workflow is not there, because it was
// terminated, lost, or never heard of, gets it back. The workflow finds in the database how far the batch was.
import { type BatchKind, batchPhases, isFinished } from '../schemas/batches.js';
import type { BatchRow } from '../schemas/collections.js';
import { campaignId, importId, rebuildId, replayId } from '../schemas/ids.js';
import type { Store } from './deps.js';
import type { Starter } from './starter.js';

const unfinished = batchPhases.filter((phase) => !isFinished(phase));
/** Until then whoever asked for it may still be starting it. */
const settledMs = 30_000;
const atOnce = 200;

const workflows = {
  'members.import': { name: 'importMembers', idOf: importId },
  'webhooks.replay': { name: 'replayDeliveries', idOf: replayId },
  campaign: { name: 'sendCampaign', idOf: campaignId },
  'passes.rebuild': { name: 'rebuildPasses', idOf: rebuildId },
} as const satisfies Record<BatchKind, { name: string; idOf: (batchId: string) => string }>;

export async function reviveBatches(deps: Store & { starter: Starter }): Promise<{ unfinished: number }> {
  const before = new Date(deps.now().getTime() - settledMs);
  const found = await deps.rows.batches
    .find({ phase: { $in: unfinished }, startedAt: { $lt: before } })
    .limit(atOnce)
    .toArray();
  for (const batch of found) await revive(deps, batch);
  return { unfinished: found.length };
}

/** Starts it unless it runs, or ended as it should. */
async function revive(deps: { starter: Starter }, batch: BatchRow): Promise<void> {
  const { _id: batchId, merchantId, kind, programId, subscriptionId } = batch;
  const { name, idOf } = workflows[kind];
  await deps.starter.start({
    name,
    workflowId: idOf(batchId),
    input: { merchantId, batchId },
    summary: `${kind}, taken up again`,
    searchAttributes: {
      MerchantId: merchantId,
      BatchId: batchId,
      ...(programId && { ProgramId: programId }),
      ...(subscriptionId && { SubscriptionId: subscriptionId }),
    },
    priority: 5,
    fairnessKey: merchantId,
  });
}
