// A change that a wallet reported: a pass was installed or removed. The wallet does not wait for the effects.
import type { Done } from '../../activities/members/change.schema.js';
import type { EventType } from '../../schemas/events/events.schema.js';
import { changeId } from '../../schemas/shared/ids.js';
import type { ApiDeps } from '../http/apiDeps.js';
import { dispatch, planDispatch } from '../members/dispatch.effect.js';

/** Returns what `change` returns: null for a repeated report. */
export async function performWalletEvent(
  deps: ApiDeps,
  { memberId, eventType }: { memberId: string; eventType: EventType },
  change: (chooseLeaseOwner: (eventId: string) => string | null) => Promise<Done | null>,
): Promise<Done | null> {
  const { chooseLeaseOwner } = planDispatch(deps, (eventId) => changeId('pass', memberId, eventId));
  const done = await change(chooseLeaseOwner);
  if (done) await dispatch(deps, done, { eventType, summary: `${eventType} ${done.member._id}` });
  return done;
}
