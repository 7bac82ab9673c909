// Starts the workflows of erasures: those that were lost or never started, and those that are due to run again.
import type { Deps } from '../../platform/deps.js';
import type { StartWorkflow, WorkflowClient } from '../../platform/temporal/workflowClient.js';
import { eraseId } from '../../schemas/ids.js';

export const erasingWorkflow = (at: { merchantId: string; memberId: string }): StartWorkflow<'eraseMember'> => ({
  name: 'eraseMember',
  workflowId: eraseId(at.memberId),
  input: { merchantId: at.merchantId, memberId: at.memberId },
  summary: `erase ${at.memberId}`,
  searchAttributes: { MerchantId: at.merchantId, MemberId: at.memberId },
  priority: 3,
  fairnessKey: at.merchantId,
});

const mostAtOnce = 500;

/** A failed start does not delay the others; a later run retries it. */
export async function reviveErasures(deps: Deps & { workflowClient: WorkflowClient }): Promise<{ revived: number }> {
  const due = await deps.collections.erasures
    .find({ dueAt: { $lte: deps.now() } }, { projection: { merchantId: 1 } })
    .sort({ dueAt: 1 })
    .limit(mostAtOnce)
    .toArray();
  for (const { _id: memberId, merchantId } of due)
    await deps.workflowClient
      .start(erasingWorkflow({ merchantId, memberId }))
      .catch((error: unknown) => deps.log.warn({ err: error, memberId }, 'an erasure could not be started'));
  return { revived: due.length };
}
