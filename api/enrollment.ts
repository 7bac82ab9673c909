// What follows an enrollment: its passes are issued by a workflow of its own, or by the relay when none is to be had.
import type { Enrolled } from '../activities/enrollMember.js';
import type { StartWorkflow } from '../activities/starter.js';
import { enrollId } from '../schemas/ids.js';
import type { PassIssuance } from '../schemas/workflows.js';
import type { ApiDeps } from './apiDeps.js';
import { plan } from './carryOut.js';

type Created = Extract<Enrolled, { kind: 'created' }>;

function issuingWorkflow({ member, eventId }: Created): StartWorkflow<'issuePasses'> {
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
  holderOf: (memberId: string) => string | null;
  /** Starts beside the answer. */
  begin: (created: Created) => void;
  /** Starts and waits, within bounds, for the first try of both wallets; null when it is not known how that went. */
  firstTry: (created: Created) => Promise<PassIssuance | null>;
}

/** `awaited` is true when the answer has to wait for the first try. */
export function startIssuing(deps: ApiDeps, awaited: boolean): Issuing {
  const own = plan(deps).own(awaited);
  return {
    holderOf: (memberId) => (own ? enrollId(memberId) : null),
    begin(created) {
      if (!own) return;
      deps.crashPoint('before-workflow-start');
      deps.starter
        .start(issuingWorkflow(created))
        .then(() => deps.crashPoint('after-workflow-start'))
        .catch((error: unknown) => deps.log.debug({ err: error, memberId: created.member._id }, 'left to the relay'));
    },
    async firstTry(created) {
      if (!own) return null;
      deps.crashPoint('before-workflow-start');
      const issuance = await deps.starter.passIssuance(issuingWorkflow(created), deps.config.PASS_UPDATE_WAIT_MS);
      deps.crashPoint('after-workflow-start');
      return issuance;
    },
  };
}
