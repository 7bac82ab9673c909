import { cachedProgram } from '../../activities/programs/program.reads.js';
import type { passEndpoints } from '../../schemas/wallets/passes.routes.js';
import type { Routes } from '../http/request.js';
import { readMember } from '../members/members.reads.js';
import { examinePass } from './doctor/examinePass.reads.js';
import { presentReport } from './doctor/passReport.view.js';

export const passRoutes: Routes<keyof typeof passEndpoints> = {
  async examinePass({ deps, caller, params }) {
    const member = await readMember(deps, { merchantId: caller.merchantId, memberId: params.id ?? '' });
    const examined = await examinePass(deps, { member, program: await cachedProgram(deps, member) });
    return { data: presentReport(examined, deps.now()) };
  },
};
