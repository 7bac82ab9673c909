// What programs and members look like on phones and on the public page.
import type { Routes } from '../http/request.js';
import { programAt } from '../programs/programs.reads.js';
import { previewLive, previewMember, previewProgram } from './preview.view.js';

export const previewRoutes: Routes<'previewProgram' | 'previewLiveProgram' | 'previewMember'> = {
  async previewProgram({ deps, caller: { merchantId }, body: { program, member } }) {
    return { data: await previewProgram(deps, { merchantId, program, member }) };
  },

  async previewLiveProgram({ deps, caller, params }) {
    return { data: await previewLive(deps, await programAt(deps, caller, params)) };
  },

  async previewMember({ deps, caller, params }) {
    return { data: await previewMember(deps, { merchantId: caller.merchantId, memberId: params.id ?? '' }) };
  },
};
