// Scans at the till. The answer has the member and its program; the scan also writes a timeline item and an event for
// the merchant.
import { scanRule } from '../../activities/members/memberRules.js';
import { programKeyIn } from '../../activities/programs/readProgram.js';
import type { scanEndpoints } from '../../schemas/endpoints/scans.js';
import { readCode } from '../../schemas/text.js';
import { performChange } from '../changes/performChange.js';
import { presentMemberWithProgram } from '../presenters/member.js';
import { scannedMember } from '../reads/members.js';
import type { Routes } from '../request.js';

export const scanRoutes: Routes<keyof typeof scanEndpoints> = {
  async scanPass({ deps, caller, body: { code, programId } }) {
    const { merchantId } = caller;
    const of = await programKeyIn(deps, { merchantId, programId });
    const member = await scannedMember(deps, { merchantId, code, programId: of });
    const request = { deps, caller, params: { id: member._id } };
    const { changed } = await performChange(request, {
      noun: 'scan',
      eventType: 'pass.scanned',
      decide: scanRule(readCode(code), caller.actor),
    });
    return { data: presentMemberWithProgram(deps, changed) };
  },
};
