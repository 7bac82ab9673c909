// The endpoint of the public page (docs/interface.md#47-public-enrollment). For a known email the answer has no data of
// the member: anyone can type an address, and must not get the pass of another person.
import { enrollMember } from '../../activities/members/enrollMember.js';
import type { publicEndpoints } from '../../schemas/endpoints/public.js';
import { planEnrollment } from '../changes/planEnrollment.js';
import { countAlso } from '../guard.js';
import { passUrlOf } from '../presenters/member.js';
import { readMember } from '../reads/members.js';
import { readPublicProgram } from '../reads/programs.js';
import type { Routes } from '../request.js';

export const publicRoutes: Routes<keyof typeof publicEndpoints> = {
  async enrollPublicly({ deps, caller, params, body, ctx }) {
    const program = await readPublicProgram(deps, { slug: params.slug ?? '' });
    // This second limit bounds the enrollments of clients with many IP addresses.
    await countAlso(deps, ctx, { kind: 'program', key: program._id });
    const issuing = planEnrollment(deps, true);
    const enrolled = await enrollMember(deps, {
      program,
      ...body,
      source: 'public',
      actor: caller.actor,
      leaseOwnerOf: issuing.leaseOwnerOf,
    });
    if (enrolled.kind === 'deduped') return { status: 200, data: { deduped: true } };
    const issued = await issuing.startAndWait(enrolled);
    const { merchantId, _id: memberId } = enrolled.member;
    const { memberCode, pass } = await readMember(deps, { merchantId, memberId });
    const data = {
      member: { memberCode },
      apple: { passUrl: passUrlOf(deps, { pass }) },
      google: { saveUrl: pass.googleSaveUrl ?? null },
    };
    const failed = issued !== null && !(issued.apple && issued.google);
    return failed ? { status: 201, data, partial: 'PASS_ISSUANCE_FAILED' } : { status: 201, data };
  },
};
