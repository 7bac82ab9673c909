// Enrolls a member, then starts the workflow that issues its passes. When no workflow is admitted, the relay issues
// them.
import { type Enroll, type Enrolled, enrollMember } from '../../activities/members/enrollMember.writes.js';
import type { StartWorkflow } from '../../platform/temporal/workflowClient.js';
import { enrollId } from '../../schemas/shared/ids.js';
import type { PassIssuance } from '../../schemas/tables/workflows.js';
import type { ApiDeps } from '../http/apiDeps.js';
import { planDispatch, startInBackground } from './dispatch.effect.js';

type Created = Extract<Enrolled, { kind: 'created' }>;

function issuingWorkflow({ member, eventId }: Created): StartWorkflow<'issuePasses'> {
  const { _id: memberId, merchantId, programId } = member;
  return {
    name: 'issuePasses',
    workflowId: enrollId(memberId),
    input: { merchantId, memberId, eventId },
    summary: `enroll ${memberId} into ${programId}`,
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

export type PerformedEnrollment = Enrolled & { issuance: PassIssuance | null };

/**
 * `awaited`: waits at most PASS_UPDATE_WAIT_MS for the first attempt on both wallets. `issuance` is null when its
 * result is not known by then. Throws the errors of enrollMember.
 */
export async function performEnrollment(
  deps: ApiDeps,
  { awaited, ...input }: Omit<Enroll, 'chooseLeaseOwner'> & { awaited: boolean },
): Promise<PerformedEnrollment> {
  const { chooseLeaseOwner } = planDispatch(deps, enrollId);
  const enrolled = await enrollMember(deps, {
    ...input,
    chooseLeaseOwner: (memberId) => chooseLeaseOwner(memberId, awaited),
  });
  if (enrolled.kind !== 'created' || enrolled.leaseOwner === null) return { ...enrolled, issuance: null };
  const workflow = issuingWorkflow(enrolled);
  if (!awaited) {
    startInBackground(deps, workflow);
    return { ...enrolled, issuance: null };
  }
  deps.crashPoint('before-workflow-start');
  const issuance = await deps.workflowClient.awaitPassIssuance(workflow, deps.config.PASS_UPDATE_WAIT_MS);
  deps.crashPoint('after-workflow-start');
  return { ...enrolled, issuance };
}
