// The public page's own endpoint (interface 4.7). A known email gets an answer without anything of its member: whoever types an
// address must not be handed somebody's pass.
import { enrollMember } from '../../activities/enrollMember.js';
import { readMember } from '../../activities/members.js';
import { readPublicProgram } from '../../activities/programs.js';
import type { publicEndpoints } from '../../schemas/endpoints/public.js';
import { startIssuing } from '../enrollment.js';
import { countBeside } from '../guard.js';
import { passUrlOf } from '../presenters/member.js';
import type { Routes } from '../request.js';

export const publicRoutes: Routes<keyof typeof publicEndpoints> = {
  async enrollPublicly({ deps, caller, params, body, ctx }) {
    const program = await readPublicProgram(deps, { slug: params.slug ?? '' });
    // Whoever has many addresses still fills no program without bound.
    await countBeside(deps, ctx, { kind: 'program', key: program._id });
    const issuing = startIssuing(deps, true);
    const enrolled = await enrollMember(deps, {
      program,
      ...body,
      source: 'public',
      actor: caller.actor,
      holderOf: issuing.holderOf,
    });
    if (enrolled.kind === 'deduped') return { status: 200, data: { deduped: true } };
    const issued = await issuing.firstTry(enrolled);
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
