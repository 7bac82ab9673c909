// What follows a change of a member: the wallets are told (which answers the waiting API), then the merchant. A wallet that
// does not confirm in time holds up neither: the event goes out with `passUpdate: null` and the push goes on.
import {
  allHandlersFinished,
  condition,
  defineUpdate,
  log,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { PassUpdate } from '../schemas/passUpdate.js';
import { type PublishChange, passUpdateUpdate } from '../schemas/workflows.js';
import { pushNow, webhooks } from './activityOptions.js';
import { pushUntilTaken } from './pushPassesLate.js';

// An update and not a query: the API waits for it, and a second request with the same key gets the same answer.
const passUpdate = defineUpdate<PassUpdate | null>(passUpdateUpdate);

export async function publishChange({
  eventIds,
  push,
}: PublishChange): Promise<{ pushed: boolean; published: number }> {
  const holder = workflowInfo().workflowId;
  const [eventId = ''] = eventIds;
  let told: PassUpdate | null | undefined;
  setHandler(passUpdate, async () => {
    await condition(() => told !== undefined);
    return told ?? null;
  });

  setCurrentDetails(push ? 'Telling the wallets.' : 'Nobody to push to; writing the timeline.');
  const first = await pushNow.pushPasses({ holder, eventIds }).catch((error: unknown) => {
    log.warn('The wallets did not confirm in time; the push is retried.', { error: String(error) });
    return null;
  });
  told = first?.passUpdates[eventId] ?? null;

  setCurrentDetails('Telling the merchant.');
  const late = first ? first.late : eventIds;
  const [{ published }] = await Promise.all([
    webhooks.publishEvents({ holder, eventIds: [...eventIds, ...(first?.eventIds ?? [])] }),
    late.length > 0 ? pushUntilTaken({ holder, eventIds: late }) : undefined,
  ]);
  setCurrentDetails(
    late.length > 0
      ? 'Done: the merchant was told; the wallets took the push late.'
      : 'Done: the wallets and the merchant were told.',
  );
  await condition(allHandlersFinished);
  return { pushed: told !== null, published };
}
