// Erases a member. When the pass is on a phone or saved at Google, it is first voided, and phones get some time to
// fetch the voided pass, because nothing can be fetched after the erasure.
import { setTimeout as sleep } from 'node:timers/promises';
import { eraseMember, voidForErasureRule } from '../../activities/persons/eraseMember.writes.js';
import { erasingWorkflow } from '../../activities/persons/reviveErasures.activity.js';
import type { Endpoint } from '../../schemas/access/endpoint.schema.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { hasRecipients } from '../../schemas/wallets/walletModes.rules.js';
import type { ApiDeps } from '../http/apiDeps.js';
import type { Request } from '../http/request.js';
import { startInBackground } from '../members/dispatch.effect.js';
import { readMember } from '../members/members.reads.js';
import { performChange } from '../members/performChange.writes.js';

const pollMs = 50;

/**
 * Returns when the member was erased. Throws MEMBER_NOT_FOUND and UNAVAILABLE; after UNAVAILABLE the request may be
 * repeated.
 */
export async function performErasure(
  request: Pick<Request<Endpoint>, 'deps' | 'caller' | 'params' | 'ctx'>,
): Promise<Date> {
  const { deps, caller, params } = request;
  const { merchantId } = caller;
  const memberId = params.id ?? '';
  const member = await readMember(deps, { merchantId, memberId });
  const until = performance.now() + deps.config.PASS_UPDATE_WAIT_MS;
  const isVoided = hasRecipients(deps.walletModes, member);
  if (isVoided) {
    const voiding = { noun: 'erase', eventType: 'pass.updated', decide: voidForErasureRule(deps) } as const;
    const { changed, passUpdate } = await performChange(request, voiding);
    if (passUpdate && passUpdate.apple.devicesNotified > 0) await untilFetched(deps, changed.member, until);
  }
  const { erasedAt } = await deps.metrics.memberChange('erase', async () => ({
    kind: 'done',
    erasedAt: await eraseMember(deps, { merchantId, memberId, isVoided }),
  }));
  startInBackground(deps, erasingWorkflow(deps, { merchantId, memberId }));
  return erasedAt;
}

async function untilFetched(deps: ApiDeps, { _id: memberId, pass }: MemberRow, until: number): Promise<void> {
  while (performance.now() < until) {
    const devices = await deps.collections.devices.find({ memberId }, { projection: { fetchedTag: 1 } }).toArray();
    if (devices.every(({ fetchedTag }) => fetchedTag !== undefined && fetchedTag >= pass.tag)) return;
    await sleep(pollMs);
  }
}
