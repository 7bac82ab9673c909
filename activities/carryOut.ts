// Everything that follows a transaction, for events that are already claimed: passes are issued, wallets told, the merchant
// told. The workflow of a single gesture takes these steps one by one; the relay and the batches take them here, in bulk.
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventRow } from '../schemas/collections.js';
import { lateId } from '../schemas/ids.js';
import { claimEvents, giveBack } from './claimEvents.js';
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
  if (pushed.late.length > 0) await pushLater(deps, pushed.late);
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

async function issueLater(deps: WorkerDeps, enrolled: EventRow[]): Promise<void> {
  const [first] = enrolled;
  if (!first) return;
  const memberIds = enrolled.flatMap((event) => event.memberId ?? []);
  await deps.starter.start({
    name: 'issuePassesLate',
    workflowId: lateId(enrolled.map((event) => event._id).toSorted()),
    input: { merchantId: first.merchantId, memberIds },
    summary: `issue the passes of ${memberIds.length} members late`,
    searchAttributes: { MerchantId: first.merchantId, EventId: first._id },
    priority: 3,
    fairnessKey: first.merchantId,
  });
}

/** A workflow of their own for pushes that did not get through, so that nobody waits for them here. */
async function pushLater(deps: WorkerDeps, late: string[]): Promise<void> {
  const eventIds = late.toSorted();
  const [first = ''] = eventIds;
  const event = await deps.rows.events.findOne({ _id: first }, { projection: { merchantId: 1 } });
  const merchantId = event?.merchantId ?? '';
  await deps.starter.start({
    name: 'pushPassesLate',
    workflowId: lateId(eventIds),
    input: { merchantId, eventIds },
    summary: `push ${eventIds.length} changes late`,
    searchAttributes: { MerchantId: merchantId, EventId: first },
    priority: 3,
    fairnessKey: merchantId,
  });
}
