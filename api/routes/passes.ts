import { readMember } from '../../activities/members.js';
import { recentProgram } from '../../activities/programs.js';
import { examinePass } from '../../activities/wallets/doctor.js';
import type { passEndpoints } from '../../schemas/endpoints/passes.js';
import { presentReport } from '../presenters/pass.js';
import type { Routes } from '../request.js';

export const passRoutes: Routes<keyof typeof passEndpoints> = {
  async examinePass({ deps, caller, params }) {
    const member = await readMember(deps, { merchantId: caller.merchantId, memberId: params.id ?? '' });
    const examined = await examinePass(deps, { member, program: await recentProgram(deps, member) });
    return { data: presentReport(examined, deps.now()) };
  },
};
