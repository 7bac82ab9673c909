// Publishes events, one or hundreds in the same steps: the bytes of each event are made once, each subscription gets a
// first attempt, the attempt adds the delivery to the log, and a failed delivery gets its own workflow. A second run
// finds the rows of the first one and repeats only the attempts that were not logged.
import { setMaxListeners } from 'node:events';
import { insertMissing } from '../../platform/mongodb/insertMissing.js';
import { update } from '../../platform/mongodb/statements.js';
import { writeBulk } from '../../platform/mongodb/transact.js';
import type { DeliveryRow, EventRow, MemberRow, SubscriptionRow } from '../../schemas/collections.js';
import { firstDeliveryId } from '../../schemas/ids.js';
import {
  type CheckLease,
  type Lease,
  leaseEvents,
  markPublished,
  newFence,
  startLeaseRenewal,
} from '../outbox/leases.js';
import { serialisedEnvelope } from '../outbox/newEvent.js';
import type { WorkerDeps } from '../workerDeps.js';
import { attemptDelivery } from './attemptDelivery.js';
import { newDelivery } from './newDelivery.js';
import { startDeliveryWorkflow } from './startDeliveryWorkflow.js';

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

export async function publishEvents(
  deps: WorkerDeps,
  {
    leaseOwner,
    eventIds,
    cancellationSignal,
  }: Pick<Lease, 'leaseOwner' | 'eventIds'> & { cancellationSignal?: AbortSignal },
): Promise<{ published: number }> {
  const fence = newFence();
  const events = await leaseEvents(deps, { leaseOwner, eventIds, fence });
  const failed = await publishLeased(deps, {
    leaseOwner,
    fence,
    events,
    ...(cancellationSignal && { cancellationSignal }),
  });
  const [first] = failed.values();
  if (first) throw first;
  return { published: events.length };
}

export interface LeasedEvents {
  leaseOwner: string;
  /** The fence of the lease; without a fence, all attempts of the lease owner share the lease. */
  fence?: string;
  events: EventRow[];
  /** Aborted when this process must hand its work back; attempts in flight are then cancelled. */
  cancellationSignal?: AbortSignal;
}

/**
 * Publishes all events that it can; an event that fails does not stop the others. Returns the events that are not
 * published yet, each with its error (LeaseLost included); these events stay leased. Throws when the database fails
 * before the first attempt, or when the events cannot be marked as published.
 */
export async function publishLeased(deps: WorkerDeps, leased: LeasedEvents): Promise<Map<string, Error>> {
  const { leaseOwner, fence, events, cancellationSignal } = leased;
  const failed = new Map<string, Error>();
  if (events.length === 0) return failed;
  // Each attempt in flight adds a listener to this signal; without this line Node warns of a leak after ten listeners.
  if (cancellationSignal) setMaxListeners(0, cancellationSignal);
  const lease = { leaseOwner, fence, eventIds: events.map((event) => event._id) };
  const renewal = startLeaseRenewal(deps, lease);
  let cancelPendingLog = () => {};
  try {
    const open = new Set(await findOpenDeliveries(deps, await serialiseEnvelopes(deps, events)));
    cancelPendingLog = logPendingLater(deps, open);
    await Promise.all(
      Array.from(open, (entry) =>
        deliverFirst(deps, entry, { checkLease: renewal.check, cancellationSignal })
          .catch((error: unknown) => {
            failed.set(entry.event._id, error instanceof Error ? error : new Error(String(error)));
          })
          .finally(() => open.delete(entry)),
      ),
    );
    deps.crashPoint('after-log-before-mark');
    await markPublished(deps, { ...lease, eventIds: lease.eventIds.filter((id) => !failed.has(id)) });
    return failed;
  } finally {
    cancelPendingLog();
    renewal.stop();
  }
}

/** The `passIssuance` of a `member.created` event; both wallets are false when the member no longer exists. */
export const issuanceOf = (pass: MemberRow['pass'] | undefined) => ({
  passIssuance: { apple: pass?.appleIssuedAt !== undefined, google: pass?.googleIssuedAt !== undefined },
});

/**
 * Returns `passIssuance` of the enrollment events, which is known only after the passes were issued. The bytes of an
 * event are made right after this, so the data of an event cannot change later.
 */
async function issuancesOf(deps: WorkerDeps, events: EventRow[]): Promise<Map<string, Record<string, unknown>>> {
  const enrolled = events.filter((event) => event.wallet === 'issue');
  if (enrolled.length === 0) return new Map();
  const memberIds = enrolled.flatMap((event) => event.memberId ?? []);
  const members = await deps.collections.members
    .find({ _id: { $in: memberIds } }, { projection: { pass: 1 } })
    .toArray();
  const passes = new Map(members.map((member) => [member._id, member.pass]));
  return new Map(enrolled.map((event) => [event._id, issuanceOf(passes.get(event.memberId ?? ''))]));
}

/** Makes the bytes of the events that have none yet, and stores them. */
async function serialiseEnvelopes(deps: WorkerDeps, events: EventRow[]): Promise<EventRow[]> {
  const open = events.filter((event) => !event.envelope);
  if (open.length === 0) return events;
  const issuance = await issuancesOf(deps, open);
  const made = new Map(open.map((event) => [event._id, serialisedEnvelope(event, issuance.get(event._id))]));
  const matched = await writeBulk(
    deps,
    [...made].map(([_id, bytes]) => update(deps, 'events', { _id, envelope: { $exists: false } }, { $set: bytes })),
  );
  if (matched === made.size) {
    return events.map((event) => ({ ...event, ...made.get(event._id) }));
  }
  return deps.collections.events.find({ _id: { $in: events.map((event) => event._id) } }).toArray();
}

const isSubscribed = (subscription: SubscriptionRow, event: EventRow): boolean =>
  !event.internal &&
  subscription.merchantId === event.merchantId &&
  (event.onlySubscriptionId
    ? event.onlySubscriptionId === subscription._id
    : subscription.events.includes('*') || subscription.events.includes(event.type));

interface OpenDelivery {
  delivery: DeliveryRow;
  event: EventRow;
  subscription: SubscriptionRow;
}

const isFailing = ({ health }: SubscriptionRow): boolean => health.consecutiveFailures >= failingThreshold;

/**
 * Builds one delivery for each event and subscription, and returns those that still need a first attempt or a workflow.
 */
async function findOpenDeliveries(deps: WorkerDeps, events: EventRow[]): Promise<OpenDelivery[]> {
  const merchantIds = [...new Set(events.map((event) => event.merchantId))];
  const subscriptions = await deps.collections.subscriptions.find({ merchantId: { $in: merchantIds } }).toArray();
  const due = events.flatMap((event) =>
    subscriptions
      .filter((subscription) => isSubscribed(subscription, event))
      .map((subscription) => {
        const id = firstDeliveryId(event._id, subscription._id);
        return { event, subscription, delivery: newDelivery(deps, { event, subscription, id }) };
      }),
  );
  if (due.length === 0) return [];
  const ids = due.map(({ delivery }) => delivery._id);
  const known = await deps.collections.deliveries.find({ _id: { $in: ids } }).toArray();
  const kept = new Map(known.map((row) => [row._id, row]));
  const unlogged = due.filter(({ delivery }) => !kept.has(delivery._id));
  const withoutAttempt = unlogged.filter(
    ({ delivery, subscription }) => delivery.state === 'skipped' || isFailing(subscription),
  );
  await logWithoutAttempt(
    deps,
    withoutAttempt.map(({ delivery }) => delivery),
  );
  return due
    .map((entry) => ({ ...entry, delivery: kept.get(entry.delivery._id) ?? entry.delivery }))
    .filter(({ delivery }) => delivery.state === 'pending' || delivery.state === 'retrying');
}

/**
 * Logs the deliveries that get no attempt in this process: those that are skipped, and those of failing subscriptions.
 */
async function logWithoutAttempt(deps: WorkerDeps, withoutAttempt: DeliveryRow[]): Promise<void> {
  const known = await insertMissing(deps.collections.deliveries, withoutAttempt);
  for (const { _id, state } of withoutAttempt)
    if (state === 'skipped' && !known.includes(_id)) deps.metrics.delivery('skipped');
}

/**
 * Logs the deliveries that still wait for a slow receiver after `pendingAfterMs`. The returned function cancels this.
 */
function logPendingLater(deps: WorkerDeps, open: ReadonlySet<OpenDelivery>): () => void {
  const timer = setTimeout(() => {
    const pending = Array.from(open, ({ delivery }) => delivery).filter(({ state }) => state === 'pending');
    insertMissing(deps.collections.deliveries, pending).catch((error: unknown) => {
      deps.log.warn({ err: error, deliveries: pending.length }, 'pending deliveries could not be logged');
    });
  }, pendingAfterMs);
  return () => clearTimeout(timer);
}

interface At {
  checkLease: CheckLease;
  cancellationSignal: AbortSignal | undefined;
}

async function deliverFirst(
  deps: WorkerDeps,
  open: OpenDelivery,
  { checkLease, cancellationSignal }: At,
): Promise<void> {
  const { delivery, event, subscription } = open;
  const { maxAttempts } = subscription.retryPolicy;
  const isFirstAttempt = delivery.state === 'pending';
  if (!isFirstAttempt || isFailing(subscription)) {
    const waitMs = Math.max((delivery.nextAttemptAt?.getTime() ?? 0) - deps.now().getTime(), 0);
    await startDeliveryWorkflow(deps, { delivery, subscription, waitMs, attempts: maxAttempts - delivery.attempts });
    return;
  }
  const attempted = await attemptDelivery(deps, {
    delivery,
    unlogged: true,
    event,
    subscription,
    attemptKind: 'first',
    last: maxAttempts <= 1,
    checkLease,
    ...(cancellationSignal && { signal: cancellationSignal }),
  });
  if (attempted.state !== 'retrying') return;
  await startDeliveryWorkflow(deps, { delivery, subscription, waitMs: attempted.waitMs, attempts: maxAttempts - 1 });
}
