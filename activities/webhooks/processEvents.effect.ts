// Processes leased events in bulk for the relay and the batches: passes are issued, wallets are notified, events are
// published. The workflow of a single change calls the same steps one by one.
import { within } from '../../platform/within.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import { leaseEvents, releaseEvents } from '../events/leases.writes.js';
import { issueBoth } from '../wallets/issuePasses.activity.js';
import { pushLeased } from '../wallets/pushPasses.activity.js';
import { startRetry } from '../wallets/startRetry.effect.js';
import type { WorkerDeps } from '../workerDeps.js';
import { type LeasedEvents, publishLeased } from './publishEvents.activity.js';

/**
 * Returns the events that are still to be processed, each with its error; they stay leased. LeaseLost can be one of
 * these errors. Throws when the work fails as a whole, such as while MongoDB or Temporal is unavailable.
 */
export async function processEvents(deps: WorkerDeps, leased: LeasedEvents): Promise<Map<string, Error>> {
  const { leaseOwner, fence, events } = leased;
  const [issued, pushed] = await Promise.all([
    issueWithTimeout(deps, { leaseOwner, events }),
    pushLeased(deps, { leaseOwner, events }),
  ]);
  const newEventIds = [...issued.newEventIds, ...pushed.newEventIds];
  const made = newEventIds.length > 0 ? await leaseEvents(deps, { leaseOwner, fence, eventIds: newEventIds }) : [];
  const updated = events.map((event) => {
    const passUpdate = pushed.passUpdates[event._id];
    return passUpdate ? { ...event, passUpdate } : event;
  });
  await startRetries(deps, events, { unissued: new Set(issued.unissued), latePushes: new Set(pushed.late) });
  const releaseMade = (unpublished: (eventId: string) => boolean) =>
    releaseEvents(deps, { leaseOwner, fence, events: made.filter(({ _id }) => unpublished(_id)) });
  try {
    const unpublished = await publishLeased(deps, { ...leased, events: [...updated, ...made] });
    await releaseMade((eventId) => unpublished.has(eventId));
    return unpublished;
  } catch (error) {
    // The caller does not know these new events, so they are released here.
    await releaseMade(() => true);
    throw error;
  }
}

/**
 * The duration of Google's slowest answers (docs/protocols/google-wallet.md#5-errors-and-limits). Pushes have their
 * own, shorter limit.
 */
const issueTimeoutMs = 5_000;

/**
 * Issues passes for up to 5 s before their `member.created` events are published. Returns the ids of the new events and
 * the members that still lack a pass.
 */
async function issueWithTimeout(
  deps: WorkerDeps,
  { leaseOwner, events }: Pick<LeasedEvents, 'leaseOwner' | 'events'>,
): Promise<{ newEventIds: string[]; unissued: string[] }> {
  const memberIds = events.flatMap(({ passAction, memberId }) => (passAction === 'issue' && memberId) || []);
  const noneYet = { newEventIds: [], unissued: memberIds };
  if (memberIds.length === 0) return noneYet;
  return within(issueBoth(deps, { memberIds, leaseOwner }), { ms: issueTimeoutMs, fallback: noneYet });
}

interface Missing {
  /** Members with a pass that a wallet did not accept. */
  unissued: ReadonlySet<string>;
  /** Events whose push a wallet did not accept. */
  latePushes: ReadonlySet<string>;
}

/**
 * Starts a workflow that retries the wallets, so that publishing does not wait for them. One for each merchant, so that
 * operators find it by the merchant's id.
 */
async function startRetries(deps: WorkerDeps, events: EventRow[], { unissued, latePushes }: Missing): Promise<void> {
  const isUnissued = ({ passAction, memberId = '' }: EventRow) => passAction === 'issue' && unissued.has(memberId);
  const missing = events.filter((event) => latePushes.has(event._id) || isUnissued(event));
  for (const merchantId of new Set(missing.map((event) => event.merchantId))) {
    const ofMerchant = missing.filter((event) => event.merchantId === merchantId);
    const memberIds = ofMerchant.filter(isUnissued).flatMap(({ memberId }) => memberId ?? []);
    const eventIds = ofMerchant.map(({ _id }) => _id).filter((id) => latePushes.has(id));
    await startRetry(deps, { merchantId, memberIds, eventIds });
  }
}
