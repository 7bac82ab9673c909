// Scans at the till. The answer has the member and its program; the scan also writes a timeline item and an event for
// the merchant.
import { scanRule } from '../../activities/members/members.rules.js';
import { programKeyIn } from '../../activities/programs/program.reads.js';
import { readCode } from '../../schemas/shared/text.js';
import type { scanEndpoints } from '../../schemas/till/scans.routes.js';
import type { Routes } from '../http/request.js';
import { presentMemberWithProgram } from '../members/member.view.js';
import { scannedMember } from '../members/members.reads.js';
import { performChange } from '../members/performChange.writes.js';

export const scanRoutes: Routes<keyof typeof scanEndpoints> = {
  async scanPass({ deps, caller, body: { code, programId }, ctx }) {
    const { merchantId } = caller;
    const of = await programKeyIn(deps, { merchantId, programId });
    const member = await scannedMember(deps, { merchantId, code, programId: of });
    const request = { deps, caller, params: { id: member._id }, ctx };
    const { changed } = await performChange(request, {
      noun: 'scan',
      eventType: 'pass.scanned',
      decide: scanRule(readCode(code), caller.actor),
    });
    return { data: presentMemberWithProgram(deps, changed) };
  },
};
