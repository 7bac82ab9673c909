// Changes a member because a wallet reported that a pass was added or removed.
import type { Deps } from '../../platform/deps.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { Platform } from '../../schemas/shared/passUpdate.schema.js';
import type { Done } from '../members/change.schema.js';
import { changeMember } from '../members/changeMember.writes.js';
import type { Decision } from '../members/decision.schema.js';

type PassDecision = Pick<Decision, 'statements' | 'pass' | 'refresh'> & {
  set?: Decision['set'];
  type: 'pass.installed' | 'pass.removed';
  /** The type of the timeline line. */
  timeline: string;
};

export interface ChangePass {
  member: Pick<MemberRow, '_id' | 'merchantId'>;
  platform: Platform;
  /** Returns the workflow that will publish the event, or null to leave it to the relay. */
  chooseLeaseOwner: (eventId: string) => string | null;
  decide: (member: MemberRow) => Promise<PassDecision | null>;
}

/** Returns null when `decide` finds that nothing changed. Throws MEMBER_NOT_FOUND and UNAVAILABLE. */
export async function changePass(
  deps: Deps,
  { member: { _id: memberId, merchantId }, platform, chooseLeaseOwner, decide }: ChangePass,
): Promise<Done | null> {
  const changed = await changeMember(deps, {
    merchantId,
    memberId,
    chooseLeaseOwner,
    temporalAvailable: true,
    decide: async (member) => {
      const decision = await decide(member);
      if (!decision) return null;
      const { type, timeline, ...change } = decision;
      const event = { type, data: { serialNumber: member.serialNumber, platform } };
      return { set: {}, ...change, event, timeline: { type: timeline, platform } };
    },
  });
  return changed.kind === 'done' ? changed : null;
}
