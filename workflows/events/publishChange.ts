// announceChange for API processes that do not know it: publishing is an activity of its own, and an update answers the
// waiting API. To be removed when none of them runs any more (docs/changing-workflows.md).
import {
  allHandlersFinished,
  condition,
  defineUpdate,
  log,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { PassUpdate } from '../../schemas/shared/passUpdate.schema.js';
import { type PublishChange, passUpdateName } from '../../schemas/tables/workflows.js';
import { atOnce, webhooks } from '../shared/activityOptions.js';
import { pushLate } from '../shared/pushLate.js';

// An update, not a query: the API waits for it, and a second request with the same key gets the same answer.
const passUpdate = defineUpdate<PassUpdate | null>(passUpdateName);

export async function publishChange({ eventIds }: PublishChange): Promise<{ pushed: boolean; published: number }> {
  const leaseOwner = workflowInfo().workflowId;
  const [eventId = ''] = eventIds;
  let confirmed: PassUpdate | null | undefined;
  setHandler(passUpdate, async () => {
    await condition(() => confirmed !== undefined);
    return confirmed ?? null;
  });

  setCurrentDetails('Pushing the passes.');
  const first = await atOnce.pushPasses({ leaseOwner, eventIds }).catch((error: unknown) => {
    log.warn('The wallets did not confirm in time; the push is retried.', { error: String(error) });
    return null;
  });
  confirmed = first?.passUpdates[eventId] ?? null;

  setCurrentDetails('Publishing the event.');
  const late = first ? first.late : eventIds;
  const publishing = webhooks.publishEvents({ leaseOwner, eventIds: [...eventIds, ...(first?.newEventIds ?? [])] });
  const [{ published }] = await Promise.all([publishing, pushLate({ leaseOwner, eventIds: late, publishing })]);
  setCurrentDetails(
    late.length > 0
      ? 'Done: the event is published; the wallets accepted the push late.'
      : 'Done: the event is published.',
  );
  await condition(allHandlersFinished);
  return { pushed: confirmed !== null, published };
}
