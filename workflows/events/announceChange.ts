// Runs after a change of a member: pushes the pass to the wallets, for whose result the API waits on the event, then
// makes the first attempts to publish the event. Both are local activities of the first workflow task, which saves a
// second task, an activity and their history. When one of them fails or is not accepted, an activity repeats it.
import { log, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { PublishChange } from '../../schemas/tables/workflows.js';
import { atOnce, webhooks } from '../shared/activityOptions.js';
import { pushLate } from '../shared/pushLate.js';

export async function announceChange({ eventIds }: PublishChange): Promise<{ pushed: boolean; published: number }> {
  const leaseOwner = workflowInfo().workflowId;
  setCurrentDetails('Pushing the passes.');
  const first = await atOnce.pushPasses({ leaseOwner, eventIds }).catch((error: unknown) => {
    log.warn('The wallets did not confirm in time; the push is retried.', { error: String(error) });
    return null;
  });

  setCurrentDetails('Publishing the event.');
  const late = first ? first.late : eventIds;
  const lease = { leaseOwner, eventIds: [...eventIds, ...(first?.newEventIds ?? [])] };
  const publishing = atOnce.publishNow(lease).catch((error: unknown) => {
    log.warn('The event was not published at once; publishing is retried.', { error: String(error) });
    return webhooks.publishEvents(lease);
  });
  const [{ published }] = await Promise.all([publishing, pushLate({ leaseOwner, eventIds: late, publishing })]);
  setCurrentDetails(
    late.length > 0
      ? 'Done: the event is published; the wallets accepted the push late.'
      : 'Done: the event is published.',
  );
  const [eventId = ''] = eventIds;
  return { pushed: first?.passUpdates[eventId] !== undefined, published };
}
