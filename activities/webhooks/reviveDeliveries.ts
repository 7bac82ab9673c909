// Finds the deliveries whose workflow is lost: terminated, or gone with Temporal's data. They go to the queue of their
// subscription; the relay starts their workflows from there, fairly among subscriptions. A workflow that runs is not
// disturbed: starting it changes nothing.
import { update } from '../../platform/mongodb/statements.js';
import { writeBulk } from '../../platform/mongodb/transact.js';
import type { WorkerDeps } from '../workerDeps.js';
import { markStatements, workflowQueue } from './deliveryQueue.js';

/** With a mark for each, these are one transaction. */
const batchSize = 100;
/** Well within the activity's timeout; the next run goes on with those that are then due longest. */
const workMs = 15_000;

export async function reviveDeliveries(deps: WorkerDeps): Promise<{ revived: number }> {
  const until = performance.now() + workMs;
  let revived = 0;
  for (let found = batchSize; found === batchSize && performance.now() < until; revived += found) {
    const lost = await deps.collections.deliveries
      .find(
        { queuedFor: workflowQueue, dueAt: { $lte: deps.now() } },
        { projection: { subscriptionId: 1, merchantId: 1 } },
      )
      .sort({ dueAt: 1 })
      .limit(batchSize)
      .toArray();
    await writeBulk(deps, [
      ...lost.map(({ _id, subscriptionId }) =>
        update(deps, 'deliveries', { _id, queuedFor: workflowQueue }, { $set: { queuedFor: subscriptionId } }),
      ),
      ...markStatements(deps, lost),
    ]);
    found = lost.length;
  }
  deps.background.wake();
  return { revived };
}
