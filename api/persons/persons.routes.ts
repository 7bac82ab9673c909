// The erasure of a member, and the export of everything about it.
import type { Routes } from '../http/request.js';
import { readMember } from '../members/members.reads.js';
import { memberExport } from './memberExport.view.js';
import { performErasure } from './performErasure.effect.js';

export const personRoutes: Routes<'eraseMember' | 'exportMember'> = {
  async eraseMember(request) {
    const erasedAt = await performErasure(request);
    return { data: { id: request.params.id ?? '', erasedAt: erasedAt.toISOString() } };
  },

  async exportMember({ deps, caller, params }) {
    const { merchantId, permissions } = caller;
    const member = await readMember(deps, { merchantId, memberId: params.id ?? '' });
    const end = await deps.exports.begin(merchantId);
    return {
      stream: memberExport(deps, { member, permissions }).once('close', end),
      fileName: `member-${member.memberCode}.json`,
      type: 'application/json',
    };
  },
};
