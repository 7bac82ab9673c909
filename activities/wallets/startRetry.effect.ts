// Starts the workflow that retries what the wallets did not accept.
import type { Deps } from '../../platform/deps.js';
import type { WorkflowClient } from '../../platform/temporal/workflowClient.js';
import { retryId } from '../../schemas/shared/ids.js';
import type { RetryPasses } from '../../schemas/tables/workflows.js';

/** Each set of passes and pushes has one workflow. Operators find it by merchant, and by its first event or member. */
export async function startRetry(
  { workflowClient }: Deps & { workflowClient: WorkflowClient },
  input: RetryPasses,
): Promise<void> {
  const { merchantId, memberIds, eventIds } = input;
  const [eventId] = eventIds;
  const [memberId] = memberIds;
  await workflowClient.start({
    name: 'retryPasses',
    input,
    summary: `issue the passes of ${memberIds.length} members and push ${eventIds.length} changes`,
    workflowId: retryId([...eventIds.toSorted(), ...memberIds.toSorted()]),
    searchAttributes: {
      MerchantId: merchantId,
      ...(eventId !== undefined && { EventId: eventId }),
      ...(memberId !== undefined && { MemberId: memberId }),
    },
    priority: 3,
    fairnessKey: merchantId,
  });
}
