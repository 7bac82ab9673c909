// Publishes events, one or hundreds in the same steps: the bytes of each event are made once, each subscription gets a
// first attempt, the attempt adds the delivery to the log, and a failed delivery gets its own workflow. A second run
// finds the rows of the first one and repeats only the attempts that were not logged.
import { setMaxListeners } from 'node:events';
import type { EventRow } from '../../schemas/collections.js';
import { type CheckLease, startLeaseRenewal } from '../outbox/leaseRenewal.js';
import { type Lease, leaseEvents, markPublished, newFence } from '../outbox/leases.js';
import { serialiseEnvelopes } from '../outbox/serialiseEnvelopes.js';
import type { WorkerDeps } from '../workerDeps.js';
import { attemptDelivery } from './attemptDelivery.js';
import { findOpenDeliveries, logPendingLater, type OpenDelivery } from './openDeliveries.js';
import { startDeliveryWorkflow } from './startDeliveryWorkflow.js';

export async function publishEvents(
  deps: WorkerDeps,
  input: Pick<Lease, 'leaseOwner' | 'eventIds'> & Pick<LeasedEvents, 'cancellationSignal'>,
): Promise<{ published: number }> {
  const { leaseOwner, eventIds, cancellationSignal } = input;
  const fence = newFence();
  const events = await leaseEvents(deps, { leaseOwner, eventIds, fence });
  const failed = await publishLeased(deps, { leaseOwner, fence, events, cancellationSignal });
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
  cancellationSignal?: AbortSignal | undefined;
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
  const { check: checkLease, stop: stopRenewal } = startLeaseRenewal(deps, lease);
  let cancelPendingLog = () => {};
  try {
    const open = new Set(await findOpenDeliveries(deps, await serialiseEnvelopes(deps, events)));
    cancelPendingLog = logPendingLater(deps, open);
    await Promise.all(
      Array.from(open, (entry) =>
        deliverFirst(deps, entry, { checkLease, signal: cancellationSignal })
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
    stopRenewal();
  }
}

/** Makes the first attempt; later attempts, and all attempts of a deferred delivery, are made by a workflow. */
async function deliverFirst(
  deps: WorkerDeps,
  { delivery, event, subscription, deferred }: OpenDelivery,
  guard: { checkLease: CheckLease; signal: AbortSignal | undefined },
): Promise<void> {
  const { maxAttempts } = subscription.retryPolicy;
  const startWorkflow = (waitMs: number, attempts: number) =>
    startDeliveryWorkflow(deps, { delivery, subscription, waitMs, attempts });
  if (delivery.state !== 'pending' || deferred) {
    const waitMs = Math.max((delivery.nextAttemptAt?.getTime() ?? 0) - deps.now().getTime(), 0);
    return startWorkflow(waitMs, maxAttempts - delivery.attempts);
  }
  const { state, waitMs } = await attemptDelivery(deps, {
    ...{ delivery, unlogged: true, event, subscription, attemptKind: 'first', last: maxAttempts <= 1, ...guard },
  });
  if (state === 'retrying') await startWorkflow(waitMs, maxAttempts - 1);
}
