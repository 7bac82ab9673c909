import { cachedProgram } from '../../activities/programs/readProgram.js';
import type { passEndpoints } from '../../schemas/endpoints/passes.js';
import { examinePass } from '../passDoctor/examinePass.js';
import { presentReport } from '../presenters/pass.js';
import { readMember } from '../reads/members.js';
import type { Routes } from '../request.js';

export const passRoutes: Routes<keyof typeof passEndpoints> = {
  async examinePass({ deps, caller, params }) {
    const member = await readMember(deps, { merchantId: caller.merchantId, memberId: params.id ?? '' });
    const examined = await examinePass(deps, { member, program: await cachedProgram(deps, member) });
    return { data: presentReport(examined, deps.now()) };
  },
};
