// Keeps a lease while events are published, and detects that another run has taken it over.
import { createCoalesce } from '../../platform/coalesce.js';
import type { Deps } from '../../platform/deps.js';
import { updateByIds } from '../../platform/mongodb/updateMany.js';
import { type Lease, lastsFor, leasedBy, leaseExpiry } from './leases.writes.js';

/**
 * Another run or owner may be working on the same events. A process that gets this error must stop without a
 * further write.
 */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** Throws LeaseLost when the lease owner no longer holds all events with its fence. */
export type CheckLease = () => Promise<void>;

const renewMs = 15_000;

/**
 * Renews the lease every 15 s until `stop` is called; a failed renewal is only logged. `check` reads the lease, and
 * renews it when it expires within 1 s or is lost; concurrent failures share one read.
 */
export function startLeaseRenewal(deps: Deps, lease: Lease): { check: CheckLease; stop: () => void } {
  const ids = new Set(lease.eventIds);
  const renew = async (): Promise<void> => {
    const change = { $set: { dueAt: leaseExpiry(deps) } };
    const renewed = await updateByIds(deps, 'events', { ids: [...ids], where: leasedBy(lease), change });
    if (renewed < ids.size) throw new LeaseLost(`${lease.leaseOwner} no longer holds its events.`);
  };
  const check = async (): Promise<void> => {
    const leased = await deps.collections.events.find(leasedBy(lease), { projection: { dueAt: 1 } }).toArray();
    if (leased.filter(lastsFor(deps, 0)).length < ids.size) await renew();
  };
  const renewalTimer = setInterval(
    () => renew().catch((error: unknown) => deps.log.warn({ err: error, ...lease }, 'a lease could not be renewed')),
    renewMs,
  );
  const coalesce = createCoalesce();
  return { check: () => coalesce('check', check), stop: () => clearInterval(renewalTimer) };
}
