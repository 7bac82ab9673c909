// Publishes one or hundreds of events in the same steps: the bytes of each event are serialised once, each subscription
// gets a first attempt, the attempt adds the delivery to the log, and a failed delivery gets its own workflow.
// Publishing waits for receivers for at most PUBLISH_WAIT_MS (firstAttempts.effect.ts). Idempotent: a second run finds
// the rows of the first one and repeats only the attempts that were not logged.
import type { EventRow } from '../../schemas/events/events.rows.js';
import { startLeaseRenewal } from '../events/leaseRenewal.writes.js';
import { type Lease, leaseEvents, newFence } from '../events/leases.writes.js';
import { serialiseEnvelopes } from '../events/serialiseEnvelopes.writes.js';
import type { WorkerDeps } from '../workerDeps.js';
import { makeFirstAttempts } from './firstAttempts.effect.js';
import { findOpenDeliveries } from './openDeliveries.writes.js';

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
  /** Aborted when this process must hand over its work; attempts in flight are then cancelled. */
  cancellationSignal?: AbortSignal | undefined;
}

/**
 * Publishes all events that it can; an event that fails does not stop the others. Returns the events that are not
 * published yet, each with its error (LeaseLost included); these events stay leased. Throws when the database fails
 * before the first attempt, or when the events cannot be marked as published.
 */
export async function publishLeased(deps: WorkerDeps, leased: LeasedEvents): Promise<Map<string, Error>> {
  const { leaseOwner, fence, events, cancellationSignal } = leased;
  if (events.length === 0) return new Map();
  const lease = { leaseOwner, fence, eventIds: events.map((event) => event._id) };
  const { check: checkLease, stop: stopRenewal } = startLeaseRenewal(deps, lease);
  try {
    const open = await findOpenDeliveries(deps, await serialiseEnvelopes(deps, events));
    const failed = await makeFirstAttempts(deps, open, { checkLease, cancellationSignal });
    deps.crashPoint('after-log-before-mark');
    await deps.markPublished({ leaseOwner, fence, events: events.filter(({ _id }) => !failed.has(_id)) });
    return failed;
  } finally {
    stopRenewal();
  }
}
