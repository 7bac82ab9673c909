// Finds the deliveries whose workflow is lost: terminated, or gone with Temporal's data. They go to the queue of their
// subscription, and the relay starts their workflows from there, fairly among subscriptions. Starting a workflow that
// still runs changes nothing.
import { isUnavailable } from '../../platform/mongodb/isUnavailable.js';
import { update } from '../../platform/mongodb/statements.js';
import { writeBulk } from '../../platform/mongodb/transact.js';
import type { DeliveryRow } from '../../schemas/collections.js';
import type { WorkerDeps } from '../workerDeps.js';
import { markStatements, ownWorkflow } from './deliveryQueue.js';

/** The number is small to keep conflicts with attempts rare. The rows and their marks are one transaction. */
const batchSize = 20;
/** Well below the activity's timeout; the next run begins with the longest due. */
const workMs = 15_000;

export async function reviveDeliveries(deps: WorkerDeps): Promise<{ revived: number }> {
  const until = performance.now() + workMs;
  let revived = 0;
  let after = new Date(0);
  for (let found = batchSize; found === batchSize && performance.now() < until; revived += found) {
    const lost = await deps.collections.deliveries
      .find({ queuedFor: ownWorkflow, dueAt: { $gt: after, $lte: deps.now() } })
      .project<Lost>({ subscriptionId: 1, merchantId: 1, dueAt: 1 })
      .sort({ dueAt: 1 })
      .limit(batchSize)
      .toArray();
    await moveToQueue(deps, lost);
    after = lost.at(-1)?.dueAt ?? after;
    found = lost.length;
  }
  deps.background.wake();
  return { revived };
}

type Lost = Pick<DeliveryRow, '_id' | 'subscriptionId' | 'merchantId' | 'dueAt'>;

/** Deliveries that cannot be moved now are left to the next run. */
async function moveToQueue(deps: WorkerDeps, lost: readonly Lost[]): Promise<void> {
  try {
    await writeBulk(deps, [
      ...lost.map(({ _id, subscriptionId }) =>
        update(deps, 'deliveries', { _id, queuedFor: ownWorkflow }, { $set: { queuedFor: subscriptionId } }),
      ),
      ...markStatements(deps, lost),
    ]);
  } catch (error) {
    if (isUnavailable(error)) throw error;
    if (lost.length > 1) for (const one of lost) await moveToQueue(deps, [one]);
    else deps.log.warn({ err: error, deliveryId: lost[0]?._id }, 'a lost delivery could not be taken up now');
  }
}
