// Everything that follows a transaction, for events that are already claimed: passes are issued, wallets told, the merchant
// told. The workflow of a single gesture takes these steps one by one; the relay and the batches take them here, in bulk.
import { lateId } from '../schemas/ids.js';
import { claimEvents } from './claimEvents.js';
import { issueApplePasses, issueGooglePasses } from './wallets/issuePasses.js';
import { pushClaimed } from './wallets/pushPasses.js';
import { type Claimed, publishClaimed } from './webhooks/publishEvents.js';
import type { WorkerDeps } from './workerDeps.js';

/**
 * Answers the events that are still to be carried out, each with its error; they stay claimed. Throws when nothing could be
 * begun, or when the lease was lost.
 */
export async function carryOut(deps: WorkerDeps, claimed: Claimed): Promise<Map<string, Error>> {
  const { holder, fence, events } = claimed;
  const memberIds = events.filter((event) => event.wallet === 'issue').flatMap((event) => event.memberId ?? []);
  const [apple, google, pushed] = await Promise.all([
    issueApplePasses(deps, { memberIds, holder }),
    issueGooglePasses(deps, { memberIds, holder }),
    pushClaimed(deps, { holder, events }),
  ]);
  const eventIds = [...apple.eventIds, ...google.eventIds, ...pushed.eventIds];
  const made = eventIds.length > 0 ? await claimEvents(deps, { holder, fence, eventIds }) : [];
  const told = events.map((event) => {
    const passUpdate = pushed.passUpdates[event._id];
    return passUpdate ? { ...event, passUpdate } : event;
  });
  if (pushed.late.length > 0) await pushLater(deps, pushed.late);
  return publishClaimed(deps, { ...claimed, events: [...told, ...made] });
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
