// Scans at the till. The answer has the member and its program; the scan also writes a timeline item and an event for
// the merchant.
import { decideScan } from '../../activities/members/memberRules.js';
import type { scanEndpoints } from '../../schemas/endpoints/scans.js';
import { ServiceError } from '../../schemas/errors.js';
import { performChange } from '../changes/performChange.js';
import { presentMemberWithProgram } from '../presenters/member.js';
import { memberByCode } from '../reads/members.js';
import type { Routes } from '../request.js';

export const scanRoutes: Routes<keyof typeof scanEndpoints> = {
  async scanPass({ deps, caller, body: { code } }) {
    const member = await memberByCode(deps, { merchantId: caller.merchantId, code });
    if (!member) throw new ServiceError('MEMBER_NOT_FOUND');
    const request = { deps, caller, params: { id: member._id } };
    const { changed } = await performChange(request, {
      noun: 'scan',
      eventType: 'pass.scanned',
      decide: decideScan(code, caller.actor),
    });
    return { data: presentMemberWithProgram(deps, changed) };
  },
};
