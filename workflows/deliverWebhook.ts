// A delivery whose first attempt failed, a replay or a test: attempts by the subscription's policy until one succeeds. Used
// up, the workflow fails, so that operators find it by status; reset, it attempts again, and a delivery that succeeded
// in the meantime is not sent twice.
import { proxyActivities, setCurrentDetails, sleep } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import { type DeliverWebhook, taskQueues } from '../schemas/workflows.js';

export async function deliverWebhook(input: DeliverWebhook): Promise<{ state: string }> {
  const { deliveryId, notBefore, attempts, backoffMs, subscriptionId } = input;
  const { postWebhook } = proxyActivities<Activities>({
    taskQueue: taskQueues.webhooks,
    startToCloseTimeout: '50s',
    heartbeatTimeout: '4s',
    priority: { fairnessKey: subscriptionId },
    // An interval of 0 is refused; 1 ms is the shortest wait there is.
    retry: { initialInterval: Math.max(backoffMs, 1), backoffCoefficient: 1, maximumAttempts: attempts },
  });
  const waitMs = notBefore - Date.now();
  if (waitMs > 0) {
    setCurrentDetails(`Waiting until ${new Date(notBefore).toISOString()}, then up to ${attempts} attempts.`);
    await sleep(waitMs);
  }
  setCurrentDetails(`Attempting, up to ${attempts} times, ${backoffMs} ms apart or as the receiver asks.`);
  const result = await postWebhook({ deliveryId, attempts });
  setCurrentDetails(`Done: ${result.state}.`);
  return result;
}
