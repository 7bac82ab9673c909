// Processes leased events in bulk for the relay and the batches: passes are issued, wallets are notified, events are
// published. The workflow of a single change calls the same steps one by one.

import type { StartWorkflow } from '../../platform/temporal/workflowClient.js';
import { within } from '../../platform/within.js';
import type { EventRow } from '../../schemas/collections.js';
import { lateId } from '../../schemas/ids.js';
import type { WorkflowName } from '../../schemas/workflows.js';
import { syncClasses } from '../wallets/google/syncClasses.js';
import { issueBoth } from '../wallets/issuePasses.js';
import { pushLeased } from '../wallets/pushPasses.js';
import { type LeasedEvents, publishLeased } from '../webhooks/publishEvents.js';
import type { WorkerDeps } from '../workerDeps.js';
import { leaseEvents, releaseEvents } from './leases.js';

/**
 * Returns the events that are still to be processed, each with its error; they stay leased. LeaseLost can be one of
 * these errors. Throws when the work fails as a whole, such as while MongoDB or Temporal is unavailable.
 */
export async function processEvents(deps: WorkerDeps, leased: LeasedEvents): Promise<Map<string, Error>> {
  const { leaseOwner, fence, events } = leased;
  const [issued, pushed, unsynced] = await Promise.all([
    issueWithTimeout(deps, { leaseOwner, events }),
    pushLeased(deps, { leaseOwner, events }),
    syncClassesWithTimeout(deps, events),
  ]);
  const eventIds = [...issued.eventIds, ...pushed.eventIds];
  const made = eventIds.length > 0 ? await leaseEvents(deps, { leaseOwner, fence, eventIds }) : [];
  const updated = events
    .filter(({ _id }) => !unsynced.has(_id))
    .map((event) => {
      const passUpdate = pushed.passUpdates[event._id];
      return passUpdate ? { ...event, passUpdate } : event;
    });
  const late = new Set(pushed.late);
  await startLatePush(
    deps,
    events.filter(({ _id }) => late.has(_id)),
  );
  const releaseMade = (unpublished: (eventId: string) => boolean) =>
    releaseEvents(deps, { leaseOwner, fence, events: made.filter(({ _id }) => unpublished(_id)) });
  try {
    const unpublished = await publishLeased(deps, { ...leased, events: [...updated, ...made] });
    await releaseMade((eventId) => unpublished.has(eventId));
    return new Map([...unsynced, ...unpublished]);
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
const walletTimeoutMs = 5_000;

/**
 * Issues passes for up to 5 s before their `member.created` events are published. A workflow issues the missing ones
 * later. Returns the ids of the new events.
 */
async function issueWithTimeout(
  deps: WorkerDeps,
  { leaseOwner, events }: Pick<LeasedEvents, 'leaseOwner' | 'events'>,
): Promise<{ eventIds: string[] }> {
  const enrolled = events.filter((event) => event.wallet === 'issue');
  if (enrolled.length === 0) return { eventIds: [] };
  const memberIds = enrolled.flatMap((event) => event.memberId ?? []);
  const { eventIds, unissued } = await within(issueBoth(deps, { memberIds, leaseOwner }), {
    ms: walletTimeoutMs,
    late: { eventIds: [], unissued: memberIds },
  });
  const missing = new Set(unissued);
  await startLateIssue(
    deps,
    enrolled.filter(({ memberId = '' }) => missing.has(memberId)),
  );
  return { eventIds };
}

/**
 * Updates the classes of changed programs at Google. Returns the events whose class could not be updated, each with its
 * error.
 */
async function syncClassesWithTimeout(deps: WorkerDeps, events: EventRow[]): Promise<Map<string, Error>> {
  const changed = events.filter((event) => event.wallet === 'class');
  if (changed.length === 0) return new Map();
  const tooLate = new Error('Google did not answer in time.');
  return within(syncClasses(deps, changed), {
    ms: walletTimeoutMs,
    late: new Map(changed.map((event) => [event._id, tooLate])),
  });
}

function startLateIssue(deps: WorkerDeps, enrolled: EventRow[]): Promise<void> {
  return startLateWorkflows(deps, enrolled, (merchantId, merchantEvents) => ({
    name: 'issuePassesLate',
    input: { merchantId, memberIds: merchantEvents.flatMap(({ memberId }) => memberId ?? []) },
    summary: `issue the passes of ${merchantEvents.length} members late`,
  }));
}

/** Starts workflows for failed pushes, so that publishing does not wait for them. */
function startLatePush(deps: WorkerDeps, changed: EventRow[]): Promise<void> {
  return startLateWorkflows(deps, changed, (merchantId, merchantEvents) => ({
    name: 'pushPassesLate',
    input: { merchantId, eventIds: merchantEvents.map(({ _id }) => _id).toSorted() },
    summary: `push ${merchantEvents.length} changes late`,
  }));
}

type LateWork<N extends WorkflowName> = Pick<StartWorkflow<N>, 'name' | 'input' | 'summary'>;

/** Starts one workflow for each merchant, so that operators find it by the merchant's id. */
async function startLateWorkflows<N extends WorkflowName>(
  deps: WorkerDeps,
  events: EventRow[],
  workOf: (merchantId: string, events: EventRow[]) => LateWork<N>,
): Promise<void> {
  for (const merchantId of new Set(events.map((event) => event.merchantId))) {
    const merchantEvents = events.filter((event) => event.merchantId === merchantId);
    const eventIds = merchantEvents.map(({ _id }) => _id).toSorted();
    const [first = ''] = eventIds;
    await deps.workflowClient.start({
      ...workOf(merchantId, merchantEvents),
      workflowId: lateId(eventIds),
      searchAttributes: { MerchantId: merchantId, EventId: first },
      priority: 3,
      fairnessKey: merchantId,
    });
  }
}
