// The endpoint of the public page (docs/interface.md#47-public-enrollment). For a known email the answer has no data of
// the member: anyone can enter the address of another person, and must not get that person's pass.

import type { publicEndpoints } from '../../schemas/members/enrollment.routes.js';
import { languageOf } from '../../schemas/shared/languages/index.js';
import { passUrlOf } from '../../schemas/wallets/passes.view.js';
import { countAlso } from '../http/guard.js';
import type { Routes } from '../http/request.js';
import { readPublicProgram } from '../programs/programs.reads.js';
import { joinPublicly } from './joinPublicly.writes.js';
import { readMember } from './members.reads.js';

export const publicRoutes: Routes<keyof typeof publicEndpoints> = {
  async enrollPublicly({ deps, caller, params, body, ctx }) {
    const program = await readPublicProgram(deps, { slug: params.slug ?? '' });
    // This second limit bounds the enrollments of clients with many IP addresses.
    await countAlso(deps, ctx, { kind: 'program', key: program._id });
    const enrolled = await joinPublicly(deps, {
      program,
      ...body,
      language: languageOf(program, ctx.get('Accept-Language')),
      actor: caller.actor,
      awaited: true,
    });
    if (enrolled.kind === 'confirm') return { status: 202, data: { confirm: true } };
    if (enrolled.kind === 'deduped') return { status: 200, data: { deduped: true } };
    const { merchantId, _id: memberId } = enrolled.member;
    const { memberCode, pass } = await readMember(deps, { merchantId, memberId });
    const data = {
      member: { memberCode },
      apple: { passUrl: passUrlOf(deps, { pass }) },
      google: { saveUrl: pass.googleSaveUrl ?? null },
    };
    const { issuance } = enrolled;
    const failed = issuance !== null && !(issuance.apple && issuance.google);
    return failed ? { status: 201, data, partial: 'PASS_ISSUANCE_FAILED' } : { status: 201, data };
  },
};
