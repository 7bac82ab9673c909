// The deliveries of events that still need an attempt or a workflow, and the log rows of those that wait for one.
import { insertMissing } from '../../platform/mongodb/insertMissing.js';
import type { DeliveryRow, EventRow, SubscriptionRow } from '../../schemas/collections.js';
import { firstDeliveryId } from '../../schemas/ids.js';
import { suspensions } from '../access/merchants.js';
import type { WorkerDeps } from '../workerDeps.js';
import { newDelivery } from './newDelivery.js';

/**
 * After this many consecutive failures of a subscription, a delivery workflow makes the first attempt too, so that
 * publishing does not wait for a failing receiver.
 */
const failingThreshold = 3;
/**
 * Deliveries still in flight after this time are logged as `pending`. Most first attempts take a few milliseconds; a
 * pending row for each of them would cost as much as all other work of publishing.
 */
const pendingAfterMs = 2_000;

export interface OpenDelivery {
  /** A workflow makes the first attempt too: the receiver fails, or the merchant is suspended. */
  deferred: boolean;
  delivery: DeliveryRow;
  event: EventRow;
  subscription: SubscriptionRow;
}

const isFailing = ({ health }: SubscriptionRow): boolean => health.consecutiveFailures >= failingThreshold;

const isSubscribed = (subscription: SubscriptionRow, event: EventRow): boolean =>
  !event.internal &&
  subscription.merchantId === event.merchantId &&
  (event.onlySubscriptionId
    ? event.onlySubscriptionId === subscription._id
    : subscription.events.includes('*') || subscription.events.includes(event.type));

/**
 * Builds one delivery for each event and subscription, and returns those that still need a first attempt or a workflow.
 * Logs those that get no attempt in this process: the skipped and the deferred ones.
 */
export async function findOpenDeliveries(deps: WorkerDeps, events: EventRow[]): Promise<OpenDelivery[]> {
  const merchantIds = [...new Set(events.map((event) => event.merchantId))];
  const [subscriptions, suspended] = await Promise.all([
    deps.collections.subscriptions.find({ merchantId: { $in: merchantIds } }).toArray(),
    suspensions(deps),
  ]);
  const due = events.flatMap((event) =>
    subscriptions
      .filter((subscription) => isSubscribed(subscription, event))
      .map((subscription) => {
        const id = firstDeliveryId(event._id, subscription._id);
        const deferred = isFailing(subscription) || suspended.has(subscription.merchantId);
        return { deferred, event, subscription, delivery: newDelivery(deps, { event, subscription, id }) };
      }),
  );
  if (due.length === 0) return [];
  const ids = due.map(({ delivery }) => delivery._id);
  const logged = await deps.collections.deliveries.find({ _id: { $in: ids } }).toArray();
  const rows = new Map(logged.map((row) => [row._id, row]));
  const withoutAttempt = due
    .filter(({ delivery, deferred }) => delivery.state === 'skipped' || deferred)
    .flatMap(({ delivery }) => (rows.has(delivery._id) ? [] : delivery));
  const known = await insertMissing(deps.collections.deliveries, withoutAttempt);
  for (const { _id, state } of withoutAttempt)
    if (state === 'skipped' && !known.includes(_id)) deps.metrics.delivery('skipped');
  return due
    .map((entry) => ({ ...entry, delivery: rows.get(entry.delivery._id) ?? entry.delivery }))
    .filter(({ delivery }) => delivery.state === 'pending' || delivery.state === 'retrying');
}

/** Logs what still waits for a slow receiver after `pendingAfterMs`. The returned function cancels this. */
export function logPendingLater(deps: WorkerDeps, open: ReadonlySet<OpenDelivery>): () => void {
  const timer = setTimeout(() => {
    const pending = Array.from(open, ({ delivery }) => delivery).filter(({ state }) => state === 'pending');
    insertMissing(deps.collections.deliveries, pending).catch((error: unknown) => {
      deps.log.warn({ err: error, deliveries: pending.length }, 'pending deliveries could not be logged');
    });
  }, pendingAfterMs);
  return () => clearTimeout(timer);
}
