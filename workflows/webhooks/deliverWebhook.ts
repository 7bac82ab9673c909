// Makes the attempts of one delivery by the subscription's retry policy until one succeeds. The delivery is a replay, a
// test, or one whose first attempt failed. When the last attempt fails, the workflow fails, so that operators find it
// by its status. Resetting the workflow starts new attempts; a delivery that has succeeded in the meantime is not sent
// again.
import { proxyActivities, setCurrentDetails, sleep } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import { type DeliverWebhook, taskQueues } from '../../schemas/tables/workflows.js';

export async function deliverWebhook(input: DeliverWebhook): Promise<{ state: string }> {
  const { deliveryId, notBefore, attemptsLeft, attemptsMade, backoffMs, merchantId } = input;
  const { postWebhook } = proxyActivities<Activities>({
    taskQueue: taskQueues.retries,
    // An attempt waits for a slot for up to 60 s, and is limited by the subscription's timeout of up to 30 s.
    startToCloseTimeout: '5m',
    heartbeatTimeout: '4s',
    priority: { fairnessKey: merchantId },
    // For failures other than the receiver's, such as a dead worker or an unavailable database. After a failure of the
    // receiver, the activity itself counts the attempt and sets the wait, and its error after the last attempt is not
    // retryable.
    retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '10s' },
  });
  const waitMs = notBefore - Date.now();
  if (waitMs > 0) {
    setCurrentDetails(`Waiting until ${new Date(notBefore).toISOString()}, then up to ${attemptsLeft} attempts.`);
    await sleep(waitMs);
  }
  setCurrentDetails(`Attempting, up to ${attemptsLeft} times, at least ${backoffMs} ms apart.`);
  const result = await postWebhook({ deliveryId, attemptsLeft, ...(attemptsMade !== undefined && { attemptsMade }) });
  setCurrentDetails(`Done: ${result.state}.`);
  return result;
}
