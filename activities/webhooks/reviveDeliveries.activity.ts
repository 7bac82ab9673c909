// Starts the workflows of deliveries again that are lost: terminated, or gone with Temporal's data. Merchants take
// turns. To start a workflow that still runs changes nothing.

import { findByIds } from '../../platform/mongodb/findByIds.js';
import { isUnavailable } from '../../platform/mongodb/isUnavailable.js';
import { updateByIds } from '../../platform/mongodb/updateMany.js';
import { newId } from '../../schemas/shared/ids.js';
import type { DeliveryRow } from '../../schemas/webhooks/webhooks.rows.js';
import { workflowLostAt } from '../events/workflowLostAt.rules.js';
import { groupsDue } from '../shared/dueInTurns.reads.js';
import type { WorkerDeps } from '../workerDeps.js';
import { closeDelivery } from './closeDelivery.writes.js';
import { ownWorkflow } from './deliveryQueue.writes.js';
import { startDeliveryWorkflow } from './startDeliveryWorkflow.effect.js';

/** The deliveries of one turn, whose workflows are started at the same time. */
const batchSize = 20;
/** Well below the activity's timeout; the next run begins with the longest due. */
const workMs = 15_000;

/** The groups with lost deliveries, one for each merchant, from a random merchant on. */
export const lostQueues = ({ collections: { deliveries }, now }: Pick<WorkerDeps, 'collections' | 'now'>) =>
  groupsDue(
    { collection: deliveries, group: 'dueGroup', dueAt: 'dueAt', dueAtOf: ({ dueAt }) => dueAt, prefix: ownWorkflow },
    { now: now(), after: `${ownWorkflow}:${newId()}` },
  );

/**
 * Takes up the lost deliveries of each merchant in turn, longest due first. A run begins at a random merchant, so that
 * no merchant is always left out when a run is too short for all.
 */
export async function reviveDeliveries(deps: WorkerDeps): Promise<{ revived: number }> {
  const { deliveries } = deps.collections;
  const until = performance.now() + workMs;
  const now = deps.now();
  const isOver = () => performance.now() > until;
  let revived = 0;
  /** Takes up at most `batchSize` deliveries of a merchant. Returns where to continue if there may be more. */
  const takeUp = async ({ dueGroup, after }: Turn): Promise<Turn[]> => {
    const lost = await deliveries
      .find({ dueGroup, dueAt: { $gt: after, $lte: now } })
      .sort({ dueAt: 1 })
      .limit(batchSize)
      .toArray();
    await restart(deps, lost).catch((error: unknown) => {
      if (isUnavailable(error)) throw error;
      deps.log.warn({ err: error, dueGroup }, 'lost deliveries could not be taken up now');
    });
    revived += lost.length;
    const last = lost.at(-1)?.dueAt;
    return last && lost.length === batchSize ? [{ dueGroup, after: last }] : [];
  };
  let left: Turn[] = [];
  for await (const dueGroup of lostQueues(deps)) {
    left.push(...(await takeUp({ dueGroup, after: new Date(0) })));
    if (isOver()) break;
  }
  while (left.length > 0 && !isOver()) {
    const turns = left;
    left = [];
    for (const turn of turns) if (!isOver()) left.push(...(await takeUp(turn)));
  }
  return { revived };
}

interface Turn {
  dueGroup: string;
  after: Date;
}

/** A start that fails is repeated when its delivery is due again. */
async function restart(deps: WorkerDeps, lost: readonly DeliveryRow[]): Promise<void> {
  const [first] = lost;
  if (!first) return;
  const { dueGroup = '', merchantId } = first;
  const now = deps.now();
  // A workflow that runs and waits is looked at less often than a delivery that was just attempted.
  const dueAt = workflowLostAt(deps, new Date(now.getTime() + deps.config.REVIVE_AFTER_MS));
  await updateByIds(deps, 'deliveries', {
    ids: lost.map((delivery) => delivery._id),
    where: { dueGroup, dueAt: { $lte: now } },
    change: { $set: { dueAt } },
  });
  const ids = [...new Set(lost.map(({ subscriptionId }) => subscriptionId))];
  const subscriptions = await findByIds(deps, 'subscriptions', { ids, merchantId });
  await Promise.all(
    lost.map((delivery) => {
      const subscription = subscriptions.find(({ _id }) => _id === delivery.subscriptionId);
      const takenUp = subscription
        ? startDeliveryWorkflow(deps, { delivery, subscription })
        : closeDelivery(deps, delivery, { state: 'exhausted', error: 'deleted' });
      return takenUp.catch((error: unknown) =>
        deps.log.warn({ err: error, deliveryId: delivery._id }, 'a lost delivery could not be taken up now'),
      );
    }),
  );
}
