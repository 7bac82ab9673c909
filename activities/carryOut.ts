// Everything that follows a transaction, for events that are already claimed: passes are issued, wallets told, the merchant
// told. The workflow of a single gesture takes these steps one by one; the relay and the batches take them here, in bulk.
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventRow } from '../schemas/collections.js';
import { lateId } from '../schemas/ids.js';
import type { WorkflowName } from '../schemas/workflows.js';
import { claimEvents, giveBack } from './claimEvents.js';
import type { StartWorkflow } from './starter.js';
import { issueBoth } from './wallets/issuePasses.js';
import { keepClasses } from './wallets/keepClasses.js';
import { pushClaimed } from './wallets/pushPasses.js';
import { type Claimed, publishClaimed } from './webhooks/publishEvents.js';
import type { WorkerDeps } from './workerDeps.js';

/**
 * Answers the events that are still to be carried out, each with its error; they stay claimed. Throws when nothing could be
 * begun, or when the lease was lost.
 */
export async function carryOut(deps: WorkerDeps, claimed: Claimed): Promise<Map<string, Error>> {
  const { holder, fence, events } = claimed;
  const [issued, pushed, unkept] = await Promise.all([
    issueInTime(deps, { holder, events }),
    pushClaimed(deps, { holder, events }),
    keepClassesInTime(deps, events),
  ]);
  const eventIds = [...issued.eventIds, ...pushed.eventIds];
  const made = eventIds.length > 0 ? await claimEvents(deps, { holder, fence, eventIds }) : [];
  const told = events
    .filter(({ _id }) => !unkept.has(_id))
    .map((event) => {
      const passUpdate = pushed.passUpdates[event._id];
      return passUpdate ? { ...event, passUpdate } : event;
    });
  const late = new Set(pushed.late);
  await pushLater(
    deps,
    events.filter(({ _id }) => late.has(_id)),
  );
  const giveBackMade = (untold: (eventId: string) => boolean) =>
    giveBack(deps, { holder, fence, events: made.filter(({ _id }) => untold(_id)) });
  try {
    const untold = await publishClaimed(deps, { ...claimed, events: [...told, ...made] });
    await giveBackMade((eventId) => untold.has(eventId));
    return new Map([...unkept, ...untold]);
  } catch (error) {
    // Whoever called knows nothing of them.
    await giveBackMade(() => true);
    throw error;
  }
}

/** Google's slowest answers (facts-wallets 5.6). Pushes have a shorter time of their own. */
const patienceMs = 5_000;

/** What is made of `work`; or `instead`, when it takes longer than anybody is to wait to be told. */
async function inTime<T>(work: Promise<T>, instead: T): Promise<T> {
  const over = new AbortController();
  try {
    return await Promise.race([work, sleep(patienceMs, instead, { signal: over.signal })]);
  } finally {
    over.abort();
  }
}

/** The passes that are issued by the time that their members are told of; the others become a workflow. */
async function issueInTime(
  deps: WorkerDeps,
  { holder, events }: Pick<Claimed, 'holder' | 'events'>,
): Promise<{ eventIds: string[] }> {
  const enrolled = events.filter((event) => event.wallet === 'issue');
  if (enrolled.length === 0) return { eventIds: [] };
  const memberIds = enrolled.flatMap((event) => event.memberId ?? []);
  const { eventIds, unissued } = await inTime(issueBoth(deps, { memberIds, holder }), {
    eventIds: [],
    unissued: memberIds,
  });
  const missing = new Set(unissued);
  await issueLater(
    deps,
    enrolled.filter(({ memberId = '' }) => missing.has(memberId)),
  );
  return { eventIds };
}

/** Answers the events whose class has to be looked after again, each with its error. */
async function keepClassesInTime(deps: WorkerDeps, events: EventRow[]): Promise<Map<string, Error>> {
  const changed = events.filter((event) => event.wallet === 'class');
  if (changed.length === 0) return new Map();
  const tooLate = new Error('Google did not answer in time.');
  return inTime(keepClasses(deps, changed), new Map(changed.map((event) => [event._id, tooLate])));
}

function issueLater(deps: WorkerDeps, enrolled: EventRow[]): Promise<void> {
  return startLate(deps, enrolled, (merchantId, theirs) => ({
    name: 'issuePassesLate',
    input: { merchantId, memberIds: theirs.flatMap(({ memberId }) => memberId ?? []) },
    summary: `issue the passes of ${theirs.length} members late`,
  }));
}

/** A workflow of their own for pushes that did not get through, so that nobody waits for them here. */
function pushLater(deps: WorkerDeps, changed: EventRow[]): Promise<void> {
  return startLate(deps, changed, (merchantId, theirs) => ({
    name: 'pushPassesLate',
    input: { merchantId, eventIds: theirs.map(({ _id }) => _id).toSorted() },
    summary: `push ${theirs.length} changes late`,
  }));
}

type LateWork<N extends WorkflowName> = Pick<StartWorkflow<N>, 'name' | 'input' | 'summary'>;

/** One workflow for each merchant, so that operators find it by theirs. */
async function startLate<N extends WorkflowName>(
  deps: WorkerDeps,
  events: EventRow[],
  workOf: (merchantId: string, events: EventRow[]) => LateWork<N>,
): Promise<void> {
  for (const merchantId of new Set(events.map((event) => event.merchantId))) {
    const theirs = events.filter((event) => event.merchantId === merchantId);
    const eventIds = theirs.map(({ _id }) => _id).toSorted();
    const [first = ''] = eventIds;
    await deps.starter.start({
      ...workOf(merchantId, theirs),
      workflowId: lateId(eventIds),
      searchAttributes: { MerchantId: merchantId, EventId: first },
      priority: 3,
      fairnessKey: merchantId,
    });
  }
}
