// Taking events is claiming them: `dueAt` moves ahead by a lease under the taker's name, so a relay and a workflow never
// work on one event at the same time, and whatever died is taken again. The fence names the attempt: a process that stood
// still while another attempt took over finds its fence replaced, and acts no more.
import type { EventRow } from '../schemas/collections.js';
import { newToken } from '../schemas/ids.js';
import type { Store } from './deps.js';
import { update, writeTogether } from './transact.js';
import { updateByIds } from './updateByIds.js';

const leaseMs = 60_000;
/** Beside what work is to take: for how long it may take nevertheless. */
const marginMs = 1_000;
/** Nobody sets `dueAt` further ahead than this; what is, was written by a clock that was put back since. */
export const farthestAheadMs = 10 * 60_000;

export interface Claim {
  /** The workflow or relay that works on them. */
  holder: string;
  eventIds: readonly string[];
  /** Names one attempt of the holder; without one, all attempts of the holder share the claim. */
  fence?: string | undefined;
}

export const newFence = (): string => newToken(9);

const leaseEnd = (store: Store): Date => new Date(store.now().getTime() + leaseMs);

const heldBy = ({ holder, eventIds, fence }: Claim) => ({
  _id: { $in: [...eventIds] },
  state: 'new' as const,
  holder,
  ...(fence !== undefined && { fence }),
});

/** Those of the events that nobody else holds and that are not published yet. A new fence ends the claims of older ones. */
export async function claimEvents(store: Store, claim: Claim): Promise<EventRow[]> {
  const { holder, fence, eventIds: ids } = claim;
  const { events } = store.rows;
  const change = { $set: { holder, dueAt: leaseEnd(store), ...(fence !== undefined && { fence }) } };
  // One after the other: with either of them in one filter the embedded engine goes through all events.
  const own = await updateByIds(events, { ids, where: { state: 'new', holder }, change });
  if (own < ids.length)
    await updateByIds(events, { ids, where: { state: 'new', dueAt: { $lte: store.now() } }, change });
  return events.find(heldBy(claim)).toArray();
}

/** New events as whoever makes them goes on to work on them: written with its claim, they need no other. */
export const claimedFromBirth = (
  store: Store,
  born: EventRow[],
  { holder, fence }: Omit<Claim, 'eventIds'>,
): EventRow[] =>
  fence === undefined ? born : born.map((event) => ({ ...event, holder, fence, dueAt: leaseEnd(store) }));

/** Whether an event stays claimed for so long yet. Looked at here: as a filter it leads the embedded engine to another index. */
const lastsFor = (store: Store, forMs: number) => {
  const enough = store.now().getTime() + forMs + marginMs;
  return ({ dueAt }: Pick<EventRow, 'dueAt'>): boolean => dueAt.getTime() > enough;
};

/** The same for what takes no longer than `forMs`, and without a write where the holder has them for longer already. */
export async function holdEvents(store: Store, { forMs, ...claim }: Claim & { forMs: number }): Promise<EventRow[]> {
  const found = await store.rows.events.find(heldBy(claim)).toArray();
  const held = found.filter(lastsFor(store, forMs));
  return held.length === new Set(claim.eventIds).size ? held : claimEvents(store, claim);
}

/** Somebody else may be at work on the same: whoever gets this acts no more and writes nothing more. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** How long a lease is believed without asking; far below the time after which another attempt takes over. */
const believedMs = 500;
/** An answer that took longer says nothing of now: the process may have stood still since it asked. */
const outdatedMs = 2_000;

/**
 * Before anything that is seen outside. Answers the `performance.now()` until which it may be begun; throws LeaseLost when
 * somebody else has taken over.
 */
export type Confirm = () => Promise<number>;

/** Asks again once the last answer is too old to be believed; those who come while it asks wait for the same answer. */
export function believing(ask: () => Promise<void>, { askedAt }: { askedAt: number }): Confirm {
  let believedUntil = askedAt + believedMs;
  let asking: Promise<void> | undefined;
  const askNow = async (): Promise<void> => {
    let at: number;
    do {
      at = performance.now();
      await ask();
    } while (performance.now() - at > outdatedMs);
    believedUntil = at + believedMs;
  };
  return async () => {
    if (performance.now() < believedUntil) return believedUntil;
    asking ??= askNow().finally(() => {
      asking = undefined;
    });
    await asking;
    return believedUntil;
  };
}

export interface Lease {
  confirm: Confirm;
  release: () => void;
}

const renewMs = 15_000;

/** Keeps a claim of these events fresh until released. `claimedAt` is the `performance.now()` of just before the claim. */
export function keepLease(store: Store, { claimedAt, ...claim }: Claim & { claimedAt: number }): Lease {
  const ids = new Set(claim.eventIds);
  const renew = async (): Promise<void> => {
    const change = { $set: { dueAt: leaseEnd(store) } };
    const renewed = await updateByIds(store.rows.events, { ids: [...ids], where: heldBy(claim), change });
    if (renewed < ids.size) throw new LeaseLost(`${claim.holder} no longer holds its events.`);
  };
  // Asked again and again while receivers are told: a reading, since writing is what the lease is to save.
  const confirm = async (): Promise<void> => {
    const held = await store.rows.events.find(heldBy(claim), { projection: { dueAt: 1 } }).toArray();
    if (held.filter(lastsFor(store, believedMs + outdatedMs)).length < ids.size) await renew();
  };
  const renewing = setInterval(
    () => renew().catch((error: unknown) => store.log.warn({ err: error, ...claim }, 'a lease could not be renewed')),
    renewMs,
  );
  return { confirm: believing(confirm, { askedAt: claimedAt }), release: () => clearInterval(renewing) };
}

export async function markPublished(store: Store, claim: Claim): Promise<void> {
  if (claim.eventIds.length === 0) return;
  const change = { $set: { state: 'published' as const, publishedAt: store.now() } };
  await updateByIds(store.rows.events, { ids: claim.eventIds, where: heldBy(claim), change });
}

const backoff = { first: 500, longest: 60_000 };

/** Events that could not be carried out are due again, soon at first and ever more seldom as they grow older. */
export async function giveBack(
  store: Store,
  { holder, fence, events }: Omit<Claim, 'eventIds'> & { events: readonly EventRow[] },
): Promise<void> {
  if (events.length === 0) return;
  const now = store.now().getTime();
  await writeTogether(
    store,
    events.map(({ _id, occurredAt }) => {
      const waitMs = Math.min(Math.max((now - occurredAt.getTime()) / 4, backoff.first), backoff.longest);
      const filter = heldBy({ holder, fence, eventIds: [_id] });
      return update(store, 'events', filter, { $set: { holder: '', dueAt: new Date(now + waitMs) } });
    }),
  );
}
