// Plans who issues the passes of a new member: a workflow of its own, or the relay when no workflow is admitted.
import type { Enrolled } from '../../activities/members/enrollMember.js';
import type { StartWorkflow } from '../../platform/temporal/workflowClient.js';
import { enrollId } from '../../schemas/ids.js';
import type { PassIssuance } from '../../schemas/workflows.js';
import type { ApiDeps } from '../apiDeps.js';
import { planDispatch } from './dispatch.js';

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

export interface EnrollmentPlan {
  leaseOwnerOf: (memberId: string) => string | null;
  /** Starts the workflow without waiting for it. If the start fails, the relay processes the event. */
  start: (created: Created) => void;
  /**
   * Starts the workflow and waits at most PASS_UPDATE_WAIT_MS for the first attempt on both wallets; null when the
   * result is not known by then.
   */
  startAndWait: (created: Created) => Promise<PassIssuance | null>;
}

/** `awaited` is true when the answer has to wait for the first attempt. */
export function planEnrollment(deps: ApiDeps, awaited: boolean): EnrollmentPlan {
  const admitted = planDispatch(deps).admits(awaited);
  return {
    leaseOwnerOf: (memberId) => (admitted ? enrollId(memberId) : null),
    start(created) {
      if (!admitted) return;
      deps.crashPoint('before-workflow-start');
      deps.workflowClient
        .start(issuingWorkflow(created))
        .then(() => deps.crashPoint('after-workflow-start'))
        .catch((error: unknown) => deps.log.debug({ err: error, memberId: created.member._id }, 'left to the relay'));
    },
    async startAndWait(created) {
      if (!admitted) return null;
      deps.crashPoint('before-workflow-start');
      const issuance = await deps.workflowClient.awaitPassIssuance(
        issuingWorkflow(created),
        deps.config.PASS_UPDATE_WAIT_MS,
      );
      deps.crashPoint('after-workflow-start');
      return issuance;
    },
  };
}
