// A pass was shown at the till: the member and its program in the answer, a line in its timeline, an event for the merchant.
import { decideScan } from '../../activities/decisions.js';
import { memberByCode } from '../../activities/members.js';
import type { scanEndpoints } from '../../schemas/endpoints/scans.js';
import { ServiceError } from '../../schemas/errors.js';
import { change } from '../change.js';
import { presentMemberWithProgram } from '../presenters/member.js';
import type { Routes } from '../request.js';

export const scanRoutes: Routes<keyof typeof scanEndpoints> = {
  async scanPass({ deps, caller, body: { code } }) {
    const member = await memberByCode(deps, { merchantId: caller.merchantId, code });
    if (!member) throw new ServiceError('MEMBER_NOT_FOUND');
    const request = { deps, caller, params: { id: member._id } };
    const { changed } = await change(request, {
      noun: 'scan',
      eventType: 'pass.scanned',
      decide: decideScan(code, caller.actor),
    });
    return { data: presentMemberWithProgram(deps, changed) };
  },
};
