// Plans the workflow for an event that a wallet reported (pass installed or removed). The workflow starts in the
// background; the wallet does not wait for it.
import type { MemberRow } from '../../schemas/collections.js';
import type { EventType } from '../../schemas/events.js';
import { changeId } from '../../schemas/ids.js';
import type { ApiDeps } from '../apiDeps.js';
import { planDispatch, startInBackground } from '../changes/dispatch.js';

export interface WalletEventPlan {
  leaseOwnerOf: (eventId: string) => string | null;
  start: (made: {
    eventId: string;
    member: Pick<MemberRow, '_id' | 'merchantId' | 'programId' | 'memberCode'>;
    push: boolean;
  }) => void;
}

export function planWalletEvent(
  deps: ApiDeps,
  { memberId, eventType }: { memberId: string; eventType: EventType },
): WalletEventPlan {
  const admitted = planDispatch(deps).admits(false);
  const workflowIdOf = (eventId: string) => changeId('pass', memberId, eventId);
  return {
    leaseOwnerOf: (eventId) => (admitted ? workflowIdOf(eventId) : null),
    start({ eventId, member, push }) {
      if (!admitted) return;
      const { merchantId, programId, memberCode } = member;
      startInBackground(deps, {
        workflowId: workflowIdOf(eventId),
        eventId,
        eventType,
        merchantId,
        memberId,
        programId,
        summary: `${eventType} ${memberCode}`,
        push,
      });
    },
  };
}
