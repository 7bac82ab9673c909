// Starts the workflow of an automatic message, or tells the one that runs that its rule was changed.
import type { AutomaticMessageRow } from '../../schemas/batches/batches.rows.js';
import { automaticId } from '../../schemas/shared/ids.js';
import { ruleChangedName } from '../../schemas/tables/workflows.js';
import type { StartBatchDeps } from './startBatch.effect.js';

type Woken = Pick<AutomaticMessageRow, '_id' | 'merchantId' | 'programId' | 'audience'>;

/** Returns false when Temporal did not take it: `reviveBatches` tries again. Never rejects. */
export async function wakeRule(
  { workflowClient, log }: Pick<StartBatchDeps, 'workflowClient' | 'log'>,
  { _id: ruleId, merchantId, programId, audience }: Woken,
): Promise<boolean> {
  if (!workflowClient.available()) return false;
  return workflowClient
    .start({
      name: 'sendAutomaticMessages',
      workflowId: automaticId(ruleId),
      input: { merchantId, ruleId },
      signal: ruleChangedName,
      summary: `automatic message of ${programId}: ${audience}`,
      searchAttributes: { MerchantId: merchantId, ProgramId: programId },
      priority: 5,
      fairnessKey: merchantId,
    })
    .then(
      () => true,
      (error: unknown) => {
        log.warn({ err: error, ruleId }, 'an automatic message is to be woken later');
        return false;
      },
    );
}
