// A change of a member without an idempotency key: status, tags, personal data, a push, a scan. The transaction and the
// effects are those of a keyed change (api/points/balances.routes.ts); the business key of the workflow is the event id.

import type { ChangeMember, ChangeResult } from '../../activities/members/change.schema.js';
import { changeMember } from '../../activities/members/changeMember.writes.js';
import type { Endpoint } from '../../schemas/access/endpoint.schema.js';
import type { EventType } from '../../schemas/events/events.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { changeId, isUuid } from '../../schemas/shared/ids.js';
import type { PassUpdate } from '../../schemas/shared/passUpdate.schema.js';
import type { Request } from '../http/request.js';
import { noteFollowed } from '../http/requestLog.js';
import { dispatch, planDispatch } from './dispatch.effect.js';

export interface Change {
  /** First part of the workflow id. */
  noun: string;
  /** Search attribute of the workflow; `member.updated` by default. */
  eventType?: EventType;
  decide: ChangeMember['decide'];
}

/** Throws MEMBER_NOT_FOUND, UNAVAILABLE and the errors of `decide`; in each of these cases nothing has changed. */
export async function performChange(
  { deps, caller, params, ctx }: Pick<Request<Endpoint>, 'deps' | 'caller' | 'params' | 'ctx'>,
  { noun, eventType = 'member.updated', decide }: Change,
): Promise<{ changed: Extract<ChangeResult, { kind: 'done' | 'unchanged' }>; passUpdate: PassUpdate | null }> {
  const { merchantId } = caller;
  const memberId = params.id ?? '';
  if (!isUuid(memberId)) throw new ServiceError('MEMBER_NOT_FOUND');
  noteFollowed(ctx, { memberId });
  const plan = planDispatch(deps, (eventId) => changeId(noun, memberId, eventId));
  const changed = await deps.metrics.memberChange(noun, () =>
    changeMember(deps, { merchantId, memberId, decide, ...plan }),
  );
  if (changed.kind === 'unchanged') return { changed, passUpdate: null };
  if (changed.kind !== 'done') throw new Error('Only a change with a key can be replayed.');
  noteFollowed(ctx, { eventId: changed.eventId });
  const summary = `${noun} ${memberId}`;
  const passUpdate = await dispatch(deps, changed, { eventType, summary });
  return { changed, passUpdate };
}
