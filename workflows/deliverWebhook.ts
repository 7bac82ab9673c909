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
    // An attempt is bounded by the subscription's timeout, but may wait long for its turn at a slow receiver.
    startToCloseTimeout: '1h',
    heartbeatTimeout: '4s',
    priority: { fairnessKey: subscriptionId },
    // For what says nothing of the receiver: a worker that died, a database that was away. The receiver's own failures
    // bring the subscription's wait with them, are counted by the activity, and the last one ends the workflow.
    retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '10s' },
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
