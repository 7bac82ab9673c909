// Finds the deliveries whose workflow is lost: terminated, or gone with Temporal's data, of each merchant in turn. They go to the queue of their
// subscription, and the relay starts their workflows from there, fairly among subscriptions. Starting a workflow that
// still runs changes nothing.
import { isUnavailable } from '../../platform/mongodb/isUnavailable.js';
import { update } from '../../platform/mongodb/statements.js';
import { writeBulk } from '../../platform/mongodb/transact.js';
import type { DeliveryRow } from '../../schemas/collections.js';
import { groupsDue } from '../dueInTurns.js';
import type { WorkerDeps } from '../workerDeps.js';
import { markStatements, ownWorkflow } from './deliveryQueue.js';

/** The number is small to keep conflicts with attempts rare. The rows and their marks are one transaction. */
const batchSize = 20;
/** The merchants of one run. */
const merchantsOfRun = 500;
/** Well below the activity's timeout; the next run begins with the longest due. */
const workMs = 15_000;

/** Takes up the lost deliveries of each merchant in turn, longest due first. */
export async function reviveDeliveries(deps: WorkerDeps): Promise<{ revived: number }> {
  const { deliveries } = deps.collections;
  const until = performance.now() + workMs;
  const now = deps.now();
  const due = { collection: deliveries, group: 'queuedFor', dueAt: 'dueAt', prefix: ownWorkflow } as const;
  const { groups } = await groupsDue({ ...due, dueAtOf: ({ dueAt }) => dueAt }, { now, most: merchantsOfRun });
  let revived = 0;
  let left = groups.map((queuedFor) => ({ queuedFor, after: new Date(0) }));
  while (left.length > 0 && performance.now() < until) {
    const more: typeof left = [];
    for (const { queuedFor, after } of left) {
      if (performance.now() > until) break;
      const lost = await deliveries
        .find({ queuedFor, dueAt: { $gt: after, $lte: now } })
        .project<Lost>({ subscriptionId: 1, merchantId: 1, queuedFor: 1, dueAt: 1 })
        .sort({ dueAt: 1 })
        .limit(batchSize)
        .toArray();
      await moveToQueue(deps, lost);
      revived += lost.length;
      const last = lost.at(-1)?.dueAt;
      if (last && lost.length === batchSize) more.push({ queuedFor, after: last });
    }
    left = more;
  }
  deps.background.wake();
  return { revived };
}

type Lost = Pick<DeliveryRow, '_id' | 'subscriptionId' | 'merchantId' | 'dueAt'> &
  Required<Pick<DeliveryRow, 'queuedFor'>>;

/** Deliveries that cannot be moved now are left to the next run. */
async function moveToQueue(deps: WorkerDeps, lost: readonly Lost[]): Promise<void> {
  try {
    await writeBulk(deps, [
      ...lost.map(({ _id, queuedFor, subscriptionId }) =>
        update(deps, 'deliveries', { _id, queuedFor }, { $set: { queuedFor: subscriptionId } }),
      ),
      ...markStatements(deps, lost),
    ]);
  } catch (error) {
    if (isUnavailable(error)) throw error;
    if (lost.length > 1) for (const one of lost) await moveToQueue(deps, [one]);
    else deps.log.warn({ err: error, deliveryId: lost[0]?._id }, 'a lost delivery could not be taken up now');
  }
}
