// Leases of events. A lease is the name of its owner, a workflow or relay, and the time `dueAt` at which it ends, so
// only one owner works on an event at a time, and when the owner dies another one can lease the event after `dueAt`.
// The transaction that creates an event leases it to its workflow for 5 s; each later lease lasts for 60 s. A lease
// owner may run several times, for example as attempts of an activity. The fence identifies one of these runs: the next
// run replaces it, and from then on the earlier run can neither mark the event as published nor release it. A process
// that was paused for longer than its lease may send an event again (docs/decisions/events-are-leased.md).

import type { Deps } from '../../platform/deps.js';
import { update } from '../../platform/mongodb/statements.js';
import { writeBulk } from '../../platform/mongodb/transact.js';
import { updateByIds } from '../../platform/mongodb/updateMany.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import { newToken } from '../../schemas/shared/ids.js';
import { leaseTime } from './leaseTime.rules.js';

const leaseMs = 60_000;
/** Added to the expected duration of the work, as a margin. */
const marginMs = 1_000;

export interface Lease {
  /** The id of the workflow or relay that works on the events. */
  leaseOwner: string;
  eventIds: readonly string[];
  /** Identifies one run of the lease owner. Without a fence, all runs of the owner share the lease. */
  fence?: string | undefined;
}

export const newFence = (): string => newToken(9);

export const leaseExpiry = (deps: Deps): Date => new Date(leaseTime(deps).getTime() + leaseMs);

/** A filter for the events that the lease still holds. */
export const leasedBy = ({ leaseOwner, eventIds, fence }: Lease) => ({
  _id: { $in: [...eventIds] },
  state: 'new' as const,
  leaseOwner,
  ...(fence !== undefined && { fence }),
});

/**
 * Leases the events that are not published and that no other owner holds, and returns them. A new fence ends the leases
 * of earlier runs of the same owner.
 */
export async function leaseEvents(deps: Deps, lease: Lease): Promise<EventRow[]> {
  const { leaseOwner, fence, eventIds: ids } = lease;
  const change = { $set: { leaseOwner, dueAt: leaseExpiry(deps), ...(fence !== undefined && { fence }) } };
  // Two updates: with `$or` in one filter the embedded engine reads all events.
  const own = await updateByIds(deps, 'events', { ids, where: { state: 'new', leaseOwner }, change });
  if (own < ids.length)
    await updateByIds(deps, 'events', { ids, where: { state: 'new', dueAt: { $lte: leaseTime(deps) } }, change });
  return deps.collections.events.find(leasedBy(lease)).toArray();
}

/**
 * Adds a lease to new events before they are inserted, for a process that goes on to publish them itself. Without a
 * fence the events are returned unchanged.
 */
export const withLease = (
  deps: Deps,
  inserted: EventRow[],
  { leaseOwner, fence }: Omit<Lease, 'eventIds'>,
): EventRow[] =>
  fence === undefined ? inserted : inserted.map((event) => ({ ...event, leaseOwner, fence, dueAt: leaseExpiry(deps) }));

/**
 * Whether the lease of an event lasts for `forMs` plus the margin. Checked here, because with a condition on `dueAt`
 * the embedded engine chooses another index.
 */
export const lastsFor = (deps: Deps, forMs: number) => {
  const enough = leaseTime(deps).getTime() + forMs + marginMs;
  return ({ dueAt }: Pick<EventRow, 'dueAt'>): boolean => dueAt.getTime() > enough;
};

/** Like leaseEvents, but without a write when the owner already holds all events for `forMs` plus the margin. */
export async function ensureLease(deps: Deps, { forMs, ...lease }: Lease & { forMs: number }): Promise<EventRow[]> {
  const found = await deps.collections.events.find(leasedBy(lease)).toArray();
  const leased = found.filter(lastsFor(deps, forMs));
  return leased.length === new Set(lease.eventIds).size ? leased : leaseEvents(deps, lease);
}

const backoff = { first: 500, longest: 60_000 };

/**
 * Releases events that could not be processed. They are due again after a quarter of their age, at least 0.5 s and at
 * most 60 s. Events that another run has taken over are left unchanged.
 */
export async function releaseEvents(
  deps: Deps,
  { leaseOwner, fence, events }: Omit<Lease, 'eventIds'> & { events: readonly EventRow[] },
): Promise<void> {
  if (events.length === 0) return;
  const now = leaseTime(deps).getTime();
  await writeBulk(
    deps,
    events.map(({ _id, occurredAt }) => {
      const waitMs = Math.min(Math.max((now - occurredAt.getTime()) / 4, backoff.first), backoff.longest);
      const filter = leasedBy({ leaseOwner, fence, eventIds: [_id] });
      return update(deps, 'events', filter, { $set: { leaseOwner: '', dueAt: new Date(now + waitMs) } });
    }),
  );
}
