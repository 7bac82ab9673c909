// Telling the merchant: for one event or for hundreds, the same steps. The bytes are made once, each receiver gets a first
// attempt, which puts the delivery into the log, and a delivery that failed becomes a workflow of its own. Run twice, it finds
// its own rows and repeats only what was not logged.
import { setMaxListeners } from 'node:events';
import type { DeliveryRow, EventRow, MemberRow, SubscriptionRow } from '../../schemas/collections.js';
import { deliveryWorkflowId, firstDeliveryId } from '../../schemas/ids.js';
import { type Claim, type Confirm, claimEvents, keepLease, markPublished, newFence } from '../claimEvents.js';
import { insertNew } from '../insertNew.js';
import { frozen } from '../newEvent.js';
import { update, writeTogether } from '../transact.js';
import type { WorkerDeps } from '../workerDeps.js';
import { attemptDelivery } from './attemptDelivery.js';

/** A receiver that failed this often in a row gets its first attempt in a workflow, so that nobody waits for it here. */
const failingAfter = 3;
/** After the few milliseconds of most first attempts a row for each of them would be as much work as all the rest. */
const pendingAfterMs = 2_000;

export async function publishEvents(
  deps: WorkerDeps,
  { holder, eventIds, callOff }: Pick<Claim, 'holder' | 'eventIds'> & { callOff?: AbortSignal },
): Promise<{ published: number }> {
  const fence = newFence();
  const claimedAt = performance.now();
  const events = await claimEvents(deps, { holder, eventIds, fence });
  const failed = await publishClaimed(deps, { holder, fence, claimedAt, events, ...(callOff && { callOff }) });
  const [first] = failed.values();
  if (first) throw first;
  return { published: events.length };
}

export interface Claimed {
  holder: string;
  /** The claim's own; without it any attempt of the holder shares the claim. */
  fence?: string;
  /** `performance.now()` of just before the claim. */
  claimedAt: number;
  events: EventRow[];
  /** Aborted when this process must hand back: attempts in flight are called off. */
  callOff?: AbortSignal;
}

/**
 * Publishes what can be: one event that cannot holds up none of the others. Answers the events that are still to be
 * published, each with its error; they stay claimed. Throws when nothing could be begun, or when the lease was lost.
 */
export async function publishClaimed(deps: WorkerDeps, claimed: Claimed): Promise<Map<string, Error>> {
  const { holder, fence, claimedAt, events, callOff } = claimed;
  const failed = new Map<string, Error>();
  if (events.length === 0) return failed;
  // Every attempt in flight listens to it.
  if (callOff) setMaxListeners(0, callOff);
  const claim = { holder, fence, eventIds: events.map((event) => event._id) };
  const lease = keepLease(deps, { ...claim, claimedAt });
  let endShowing = () => {};
  try {
    const waiting = new Set(await openDeliveries(deps, await freeze(deps, events)));
    endShowing = showLater(deps, waiting);
    await Promise.all(
      Array.from(waiting, (entry) =>
        deliverFirst(deps, entry, { confirm: lease.confirm, callOff })
          .catch((error: unknown) => {
            failed.set(entry.event._id, error instanceof Error ? error : new Error(String(error)));
          })
          .finally(() => waiting.delete(entry)),
      ),
    );
    deps.crashPoint('after-log-before-mark');
    await markPublished(deps, { ...claim, eventIds: claim.eventIds.filter((id) => !failed.has(id)) });
    return failed;
  } finally {
    endShowing();
    lease.release();
  }
}

/** As `member.created` says it; none where the member is gone. */
export const issuanceOf = (pass: MemberRow['pass'] | undefined) => ({
  passIssuance: { apple: pass?.appleIssuedAt !== undefined, google: pass?.googleIssuedAt !== undefined },
});

/** What only shows once the passes were issued: the last moment at which an event's data can change. */
async function issuancesOf(deps: WorkerDeps, events: EventRow[]): Promise<Map<string, Record<string, unknown>>> {
  const enrolled = events.filter((event) => event.wallet === 'issue');
  if (enrolled.length === 0) return new Map();
  const memberIds = enrolled.flatMap((event) => event.memberId ?? []);
  const members = await deps.rows.members.find({ _id: { $in: memberIds } }, { projection: { pass: 1 } }).toArray();
  const passes = new Map(members.map((member) => [member._id, member.pass]));
  return new Map(enrolled.map((event) => [event._id, issuanceOf(passes.get(event.memberId ?? ''))]));
}

/** Makes the bytes of those that have none yet. */
async function freeze(deps: WorkerDeps, events: EventRow[]): Promise<EventRow[]> {
  const open = events.filter((event) => !event.envelope);
  if (open.length === 0) return events;
  const issuance = await issuancesOf(deps, open);
  const made = new Map(open.map((event) => [event._id, frozen(event, issuance.get(event._id))]));
  const matched = await writeTogether(
    deps,
    [...made].map(([_id, bytes]) => update(deps, 'events', { _id, envelope: { $exists: false } }, { $set: bytes })),
  );
  if (matched === made.size) {
    return events.map((event) => ({ ...event, ...made.get(event._id) }));
  }
  return deps.rows.events.find({ _id: { $in: events.map((event) => event._id) } }).toArray();
}

const wants = (subscription: SubscriptionRow, event: EventRow): boolean =>
  !event.silent &&
  subscription.merchantId === event.merchantId &&
  (event.onlySubscriptionId
    ? event.onlySubscriptionId === subscription._id
    : subscription.events.includes('*') || subscription.events.includes(event.type));

interface Waiting {
  delivery: DeliveryRow;
  event: EventRow;
  subscription: SubscriptionRow;
}

export function newDelivery(
  deps: Pick<WorkerDeps, 'now'>,
  at: { event: EventRow; subscription: SubscriptionRow; id: string },
): DeliveryRow {
  const { event, subscription, id } = at;
  return {
    _id: id,
    merchantId: event.merchantId,
    subscriptionId: subscription._id,
    eventId: event._id,
    eventType: event.type,
    url: subscription.url,
    state: subscription.enabled ? 'pending' : 'skipped',
    success: null,
    statusCode: null,
    error: subscription.enabled ? null : 'disabled',
    detail: null,
    attempts: 0,
    history: [],
    createdAt: deps.now(),
    lastAttemptAt: null,
    nextAttemptAt: null,
  };
}

const isFailing = ({ health }: SubscriptionRow): boolean => health.consecutiveFailures >= failingAfter;

/** One delivery for each event and subscription: those that still need their first attempt, or a workflow. */
async function openDeliveries(deps: WorkerDeps, events: EventRow[]): Promise<Waiting[]> {
  const merchantIds = [...new Set(events.map((event) => event.merchantId))];
  const subscriptions = await deps.rows.subscriptions.find({ merchantId: { $in: merchantIds } }).toArray();
  const wanted = events.flatMap((event) =>
    subscriptions
      .filter((subscription) => wants(subscription, event))
      .map((subscription) => {
        const id = firstDeliveryId(event._id, subscription._id);
        return { event, subscription, delivery: newDelivery(deps, { event, subscription, id }) };
      }),
  );
  if (wanted.length === 0) return [];
  const ids = wanted.map(({ delivery }) => delivery._id);
  const known = await deps.rows.deliveries.find({ _id: { $in: ids } }).toArray();
  const kept = new Map(known.map((row) => [row._id, row]));
  const unlogged = wanted.filter(({ delivery }) => !kept.has(delivery._id));
  const untold = unlogged.filter(
    ({ delivery, subscription }) => delivery.state === 'skipped' || isFailing(subscription),
  );
  await addUntold(
    deps,
    untold.map(({ delivery }) => delivery),
  );
  return wanted
    .map((entry) => ({ ...entry, delivery: kept.get(entry.delivery._id) ?? entry.delivery }))
    .filter(({ delivery }) => delivery.state === 'pending' || delivery.state === 'retrying');
}

/** What gets no attempt here is in the log at once. */
async function addUntold(deps: WorkerDeps, untold: DeliveryRow[]): Promise<void> {
  const known = await insertNew(deps.rows.deliveries, untold);
  for (const { _id, state } of untold)
    if (state === 'skipped' && !known.includes(_id)) deps.metrics.delivery('skipped');
}

/** What waits for a slow receiver is in the log meanwhile. Answers what ends that. */
function showLater(deps: WorkerDeps, waiting: ReadonlySet<Waiting>): () => void {
  const timer = setTimeout(() => {
    const pending = Array.from(waiting, ({ delivery }) => delivery).filter(({ state }) => state === 'pending');
    insertNew(deps.rows.deliveries, pending).catch((error: unknown) => {
      deps.log.warn({ err: error, deliveries: pending.length }, 'what is pending could not be put into the log');
    });
  }, pendingAfterMs);
  return () => clearTimeout(timer);
}

interface At {
  confirm: Confirm;
  callOff: AbortSignal | undefined;
}

async function deliverFirst(deps: WorkerDeps, waiting: Waiting, { confirm, callOff }: At): Promise<void> {
  const { delivery, event, subscription } = waiting;
  const { maxAttempts } = subscription.retryPolicy;
  const untried = delivery.state === 'pending';
  if (!untried || isFailing(subscription)) {
    const waitMs = Math.max((delivery.nextAttemptAt?.getTime() ?? 0) - deps.now().getTime(), 0);
    await retryLater(deps, { delivery, subscription, waitMs, attempts: maxAttempts - delivery.attempts });
    return;
  }
  const attempted = await attemptDelivery(deps, {
    delivery,
    unlogged: true,
    event,
    subscription,
    turn: 'first',
    last: maxAttempts <= 1,
    confirm,
    ...(callOff && { signal: callOff }),
  });
  if (attempted.state !== 'retrying') return;
  await retryLater(deps, { delivery, subscription, waitMs: attempted.waitMs, attempts: maxAttempts - 1 });
}

export interface RetryLater {
  delivery: DeliveryRow;
  subscription: SubscriptionRow;
  waitMs: number;
  attempts: number;
  suffix?: string;
}

/** Hands a delivery to a workflow of its own, which operators find by event, subscription and status. */
export async function retryLater(
  deps: Pick<WorkerDeps, 'starter' | 'now' | 'crashPoint'>,
  retry: RetryLater,
): Promise<void> {
  const { delivery, subscription, waitMs, attempts, suffix } = retry;
  const { eventId, subscriptionId, merchantId, eventType } = delivery;
  deps.crashPoint('before-workflow-start');
  await deps.starter.start({
    name: 'deliverWebhook',
    workflowId: deliveryWorkflowId(eventId, subscriptionId, suffix),
    input: {
      deliveryId: delivery._id,
      eventId,
      subscriptionId,
      merchantId,
      notBefore: deps.now().getTime() + waitMs,
      attempts: Math.max(attempts, 1),
      backoffMs: subscription.retryPolicy.backoffMs,
    },
    summary: `${eventType} to ${new URL(subscription.url).host}`.slice(0, 200),
    searchAttributes: {
      MerchantId: merchantId,
      SubscriptionId: subscriptionId,
      EventId: eventId,
      EventType: eventType,
    },
    priority: 4,
    fairnessKey: subscriptionId,
  });
  deps.crashPoint('after-workflow-start');
}
