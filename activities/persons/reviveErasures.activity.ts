// Starts the workflows of erasures: those that were lost or never started, and those that are due to run again.
import type { Deps } from '../../platform/deps.js';
import { updateByIds } from '../../platform/mongodb/updateMany.js';
import type { StartWorkflow, WorkflowClient } from '../../platform/temporal/workflowClient.js';
import { eraseId } from '../../schemas/shared/ids.js';
import { lostAfterMs } from './eraseMember.writes.js';

export const erasingWorkflow = (
  { config }: Pick<Deps, 'config'>,
  at: { merchantId: string; memberId: string },
): StartWorkflow<'eraseMember'> => ({
  name: 'eraseMember',
  workflowId: eraseId(at.memberId),
  input: { merchantId: at.merchantId, memberId: at.memberId, lastRunMs: config.ERASURE_LAST_RUN_MS },
  summary: `erase ${at.memberId}`,
  searchAttributes: { MerchantId: at.merchantId, MemberId: at.memberId },
  priority: 3,
  fairnessKey: at.merchantId,
});

const mostAtOnce = 500;

/**
 * A failed start does not delay the others; a later run retries it. Erasures whose workflow runs, such as those that
 * wait for Google, are due again later, so that they do not hide lost ones.
 */
export async function reviveErasures(deps: Deps & { workflowClient: WorkflowClient }): Promise<{ revived: number }> {
  const isDue = { dueAt: { $lte: deps.now() } };
  const due = await deps.collections.erasures
    .find(isDue, { projection: { merchantId: 1 } })
    .sort({ dueAt: 1 })
    .limit(mostAtOnce)
    .toArray();
  const running: string[] = [];
  for (const { _id: memberId, merchantId } of due)
    await deps.workflowClient.start(erasingWorkflow(deps, { merchantId, memberId })).then(
      () => running.push(memberId),
      (error: unknown) => deps.log.warn({ err: error, memberId }, 'an erasure could not be started'),
    );
  const dueAt = new Date(deps.now().getTime() + 2 * lostAfterMs);
  await updateByIds(deps, 'erasures', { ids: running, where: isDue, change: { $set: { dueAt } } });
  return { revived: due.length };
}
