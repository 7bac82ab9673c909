// What a wallet told us becomes an event; its workflow is started beside the answer to the wallet.
import type { MemberRow } from '../../schemas/collections.js';
import type { EventType } from '../../schemas/events.js';
import { changeId } from '../../schemas/ids.js';
import type { ApiDeps } from '../apiDeps.js';
import { plan, startBeside } from '../carryOut.js';

export interface Publishing {
  holderOf: (eventId: string) => string | null;
  begin: (made: {
    eventId: string;
    member: Pick<MemberRow, '_id' | 'merchantId' | 'programId' | 'memberCode'>;
    push: boolean;
  }) => void;
}

export function publishing(
  deps: ApiDeps,
  { memberId, eventType }: { memberId: string; eventType: EventType },
): Publishing {
  const own = plan(deps).own(false);
  const workflowIdOf = (eventId: string) => changeId('pass', memberId, eventId);
  return {
    holderOf: (eventId) => (own ? workflowIdOf(eventId) : null),
    begin({ eventId, member, push }) {
      if (!own) return;
      const { merchantId, programId, memberCode } = member;
      startBeside(deps, {
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
