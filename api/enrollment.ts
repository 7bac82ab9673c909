// What follows an enrollment: its passes are issued by a workflow of its own, or by the relay when none is to be had.
import type { Enrolled } from '../activities/enrollMember.js';
import type { StartWorkflow } from '../activities/starter.js';
import { enrollId } from '../schemas/ids.js';
import type { ApiDeps } from './apiDeps.js';
import { plan } from './carryOut.js';

type Created = Extract<Enrolled, { kind: 'created' }>;

export function issuingWorkflow({ member, eventId }: Created): StartWorkflow<'issuePasses'> {
  const { _id: memberId, merchantId, programId, memberCode } = member;
  return {
    name: 'issuePasses',
    workflowId: enrollId(memberId),
    input: { merchantId, memberId, eventId },
    summary: `enroll ${memberCode} into ${programId}`,
    searchAttributes: {
      MerchantId: merchantId,
      MemberId: memberId,
      ProgramId: programId,
      EventId: eventId,
      EventType: 'member.created',
    },
    priority: 3,
    fairnessKey: merchantId,
  };
}

export interface Issuing {
  own: boolean;
  holderOf: (memberId: string) => string | null;
  begin: (created: Created) => void;
}

export function startIssuing(deps: ApiDeps): Issuing {
  const { own } = plan(deps);
  return {
    own,
    holderOf: (memberId) => (own ? enrollId(memberId) : null),
    begin(created) {
      if (!own) return;
      deps.crashPoint('before-workflow-start');
      deps.starter
        .start(issuingWorkflow(created))
        .then(() => deps.crashPoint('after-workflow-start'))
        .catch((error: unknown) => deps.log.debug({ err: error, memberId: created.member._id }, 'left to the relay'));
    },
  };
}
