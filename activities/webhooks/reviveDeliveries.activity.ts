// Finds deliveries whose workflow is lost: it was terminated, or is gone with Temporal's data. Merchants take turns. A
// delivery that was found moves to the queue of its subscription. From there the relay starts its workflow again, and
// subscriptions take turns. To start a workflow that still runs changes nothing.
import { isUnavailable } from '../../platform/mongodb/isUnavailable.js';
import { update } from '../../platform/mongodb/statements.js';
import { writeBulk } from '../../platform/mongodb/transact.js';
import { newId } from '../../schemas/shared/ids.js';
import type { DeliveryRow } from '../../schemas/webhooks/webhooks.rows.js';
import { groupsDue } from '../shared/dueInTurns.reads.js';
import type { WorkerDeps } from '../workerDeps.js';
import { markStatements, ownWorkflow } from './deliveryQueue.writes.js';

/** The number is small to keep conflicts with attempts rare. The rows and their marks are one transaction. */
const batchSize = 20;
/** Well below the activity's timeout; the next run begins with the longest due. */
const workMs = 15_000;

/**
 * Moves the lost deliveries of each merchant in turn, longest due first. A run begins at a random merchant, so that no
 * merchant is always left out when a run is too short for all.
 */
export async function reviveDeliveries(deps: WorkerDeps): Promise<{ revived: number }> {
  const { deliveries } = deps.collections;
  const until = performance.now() + workMs;
  const now = deps.now();
  const isOver = () => performance.now() > until;
  let revived = 0;
  /** Moves up to `batchSize` deliveries of a merchant. Returns where to continue if there may be more. */
  const takeUp = async ({ dueGroup, after }: Turn): Promise<Turn[]> => {
    const lost = await deliveries
      .find({ dueGroup, dueAt: { $gt: after, $lte: now } })
      .project<Lost>({ subscriptionId: 1, merchantId: 1, dueGroup: 1, dueAt: 1 })
      .sort({ dueAt: 1 })
      .limit(batchSize)
      .toArray();
    await moveToQueue(deps, lost);
    revived += lost.length;
    const last = lost.at(-1)?.dueAt;
    return last && lost.length === batchSize ? [{ dueGroup, after: last }] : [];
  };
  const queues = groupsDue(
    { collection: deliveries, group: 'dueGroup', dueAt: 'dueAt', dueAtOf: ({ dueAt }) => dueAt, prefix: ownWorkflow },
    { now, after: `${ownWorkflow}:${newId()}` },
  );
  let left: Turn[] = [];
  for await (const dueGroup of queues) {
    left.push(...(await takeUp({ dueGroup, after: new Date(0) })));
    if (isOver()) break;
  }
  while (left.length > 0 && !isOver()) {
    const turns = left;
    left = [];
    for (const turn of turns) if (!isOver()) left.push(...(await takeUp(turn)));
  }
  deps.background.wake();
  return { revived };
}

interface Turn {
  dueGroup: string;
  after: Date;
}

type Lost = Pick<DeliveryRow, '_id' | 'subscriptionId' | 'merchantId' | 'dueAt'> &
  Required<Pick<DeliveryRow, 'dueGroup'>>;

/** Deliveries that cannot be moved now are left to the next run. */
async function moveToQueue(deps: WorkerDeps, lost: readonly Lost[]): Promise<void> {
  try {
    await writeBulk(deps, [
      ...lost.map(({ _id, dueGroup, subscriptionId }) =>
        update(deps, 'deliveries', { _id, dueGroup }, { $set: { dueGroup: subscriptionId } }),
      ),
      ...markStatements(deps, lost),
    ]);
  } catch (error) {
    if (isUnavailable(error)) throw error;
    if (lost.length > 1) for (const one of lost) await moveToQueue(deps, [one]);
    else deps.log.warn({ err: error, deliveryId: lost[0]?._id }, 'a lost delivery could not be taken up now');
  }
}
