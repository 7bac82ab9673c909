// A change of a member without an idempotency key: status, tags, names, a push. The same transaction and the same effects
// as a keyed gesture, with the event's own id as its business key.
import { type Changed, type ChangeMember, changeMember } from '../activities/changeMember.js';
import type { Endpoint } from '../schemas/endpoints/endpoint.js';
import { ServiceError } from '../schemas/errors.js';
import type { EventType } from '../schemas/events.js';
import { changeId, isUuid } from '../schemas/ids.js';
import type { PassUpdate } from '../schemas/passUpdate.js';
import { plan, settle } from './carryOut.js';
import type { Request } from './request.js';

export interface Change {
  /** Begins the workflow's id. */
  noun: string;
  /** What operators search by; `member.updated` when left out. */
  eventType?: EventType;
  decide: ChangeMember['decide'];
}

/** Throws MEMBER_NOT_FOUND, UNAVAILABLE and whatever `decide` throws; then nothing has changed. */
export async function change(
  { deps, caller, params }: Pick<Request<Endpoint>, 'deps' | 'caller' | 'params'>,
  { noun, eventType = 'member.updated', decide }: Change,
): Promise<{ changed: Extract<Changed, { kind: 'done' | 'unchanged' }>; passUpdate: PassUpdate | null }> {
  const { merchantId } = caller;
  const memberId = params.id ?? '';
  if (!isUuid(memberId)) throw new ServiceError('MEMBER_NOT_FOUND');
  const { own, confirmable } = plan(deps);
  const workflowIdOf = (eventId: string) => changeId(noun, memberId, eventId);
  const transaction = () =>
    changeMember(deps, {
      merchantId,
      memberId,
      holderOf: (eventId, awaited) => (own(awaited) ? workflowIdOf(eventId) : null),
      confirmable,
      decide,
    });
  const changed = await deps.metrics.gesture(noun, () => deps.room.timed(transaction));
  if (changed.kind === 'unchanged') return { changed, passUpdate: null };
  if (changed.kind !== 'done') throw new Error('Only a gesture with a key can be replayed.');
  const { eventId, member } = changed;
  const passUpdate = await settle(deps, {
    done: changed,
    effect: {
      workflowId: workflowIdOf(eventId),
      eventId,
      eventType,
      merchantId,
      memberId,
      programId: member.programId,
      summary: `${noun} ${member.memberCode}`,
      push: changed.passUpdate === undefined,
    },
  });
  return { changed, passUpdate };
}
