// The deliveries of events that need an attempt, a workflow or the queue.
import { insertMissing } from '../../platform/mongodb/insertMissing.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import { firstDeliveryId } from '../../schemas/shared/ids.js';
import type { DeliveryRow, SubscriptionRow } from '../../schemas/webhooks/webhooks.rows.js';
import { isUnfinished } from '../../schemas/webhooks/webhooks.schema.js';
import { suspensions } from '../access/merchants.reads.js';
import type { WorkerDeps } from '../workerDeps.js';
import { newDelivery } from './newDelivery.rules.js';

/** After this many consecutive failures of a subscription, publishing does not wait for its receiver at all. */
const failingThreshold = 3;

export interface OpenDelivery {
  /** The first attempt is made from the queue: the receiver fails, or the merchant is suspended. */
  startsInQueue: boolean;
  delivery: DeliveryRow;
  event: EventRow;
  subscription: SubscriptionRow;
}

const isFailing = ({ health }: SubscriptionRow): boolean => health.consecutiveFailures >= failingThreshold;

export const isSubscribed = (
  subscription: SubscriptionRow,
  event: Pick<EventRow, 'type' | 'internal' | 'erasedAt' | 'onlySubscriptionId'>,
): boolean =>
  !event.internal &&
  !event.erasedAt &&
  (event.onlySubscriptionId
    ? event.onlySubscriptionId === subscription._id
    : subscription.events.includes('*') || subscription.events.includes(event.type));

/**
 * Builds one delivery for each event and subscription, and returns those that need an attempt, a workflow or the queue.
 * Logs the skipped ones.
 */
export async function findOpenDeliveries(deps: WorkerDeps, events: EventRow[]): Promise<OpenDelivery[]> {
  const { isHeardBy = () => true } = deps;
  const merchantIds = [...new Set(events.map((event) => event.merchantId))];
  const byMerchant = new Map<string, SubscriptionRow[]>(merchantIds.map((merchantId) => [merchantId, []]));
  const [subscriptions, suspended] = await Promise.all([
    deps.collections.subscriptions.find({ merchantId: { $in: merchantIds } }).toArray(),
    suspensions(deps),
  ]);
  for (const row of subscriptions.filter(isHeardBy)) byMerchant.get(row.merchantId)?.push(row);
  const due = events.flatMap((event) =>
    (byMerchant.get(event.merchantId) ?? [])
      .filter((subscription) => isSubscribed(subscription, event))
      .map((subscription) => {
        const id = firstDeliveryId(event._id, subscription._id);
        const startsInQueue = isFailing(subscription) || suspended.has(subscription.merchantId);
        return { startsInQueue, event, subscription, delivery: newDelivery(deps, { event, subscription, id }) };
      }),
  );
  if (due.length === 0) return [];
  const ids = due.map(({ delivery }) => delivery._id);
  const logged = await deps.collections.deliveries.find({ _id: { $in: ids } }).toArray();
  const rows = new Map(logged.map((row) => [row._id, row]));
  const skipped = due.flatMap(({ delivery }) =>
    delivery.state === 'skipped' && !rows.has(delivery._id) ? [delivery] : [],
  );
  const known = new Set(await insertMissing(deps.collections.deliveries, skipped));
  for (const { _id } of skipped) if (!known.has(_id)) deps.metrics.delivery('skipped');
  return due
    .map((entry) => ({ ...entry, delivery: rows.get(entry.delivery._id) ?? entry.delivery }))
    .filter(({ delivery }) => isUnfinished(delivery.state));
}
