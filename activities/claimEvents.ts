// Taking events is claiming them: `dueAt` moves ahead by a lease under the taker's name, so a relay and a workflow never
// work on one event at the same time, and whatever died is taken again.
import type { EventRow } from '../schemas/collections.js';
import type { Store } from './deps.js';

const leaseMs = 60_000;
const renewMs = 15_000;

export interface Claim {
  holder: string;
  eventIds: readonly string[];
}

const leaseEnd = (store: Store): Date => new Date(store.now().getTime() + leaseMs);

/** Those of the events that nobody else holds and that are not published yet. */
export async function claimEvents(store: Store, { holder, eventIds }: Claim): Promise<EventRow[]> {
  const { events } = store.rows;
  const ids = [...eventIds];
  await events.updateMany(
    { _id: { $in: ids }, state: 'new', $or: [{ holder }, { dueAt: { $lte: store.now() } }] },
    { $set: { holder, dueAt: leaseEnd(store) } },
  );
  return events.find({ _id: { $in: ids }, state: 'new', holder }).toArray();
}

export interface Lease {
  /** False when the lease ran out, as after a long stop of this process: somebody else may be at work. */
  held: () => boolean;
  release: () => void;
}

/** Keeps the claim of these events fresh until released. The clock is the process's own, so a stop is noticed. */
export function keepLease(store: Store, { holder, eventIds }: Claim): Lease {
  const ids = [...eventIds];
  let heldUntil = performance.now() + leaseMs;
  const renewing = setInterval(() => {
    if (performance.now() > heldUntil) return;
    const renewedAt = performance.now();
    store.rows.events
      .updateMany({ _id: { $in: ids }, state: 'new', holder }, { $set: { dueAt: leaseEnd(store) } })
      .then(
        () => {
          heldUntil = renewedAt + leaseMs;
        },
        (error: unknown) => store.log.warn({ err: error, holder }, 'a lease could not be renewed'),
      );
  }, renewMs);
  return { held: () => performance.now() < heldUntil, release: () => clearInterval(renewing) };
}

export async function markPublished(store: Store, { holder, eventIds }: Claim): Promise<void> {
  await store.rows.events.updateMany(
    { _id: { $in: [...eventIds] }, state: 'new', holder },
    { $set: { state: 'published', publishedAt: store.now() } },
  );
}
