// Earning, reversing a ledger entry, and explaining a balance.

import { earnedReader } from '../../activities/members/earnedReader.js';
import { earnRule } from '../../activities/members/earnRules.js';
import { reversalRule } from '../../activities/members/reversalRules.js';
import { cachedProgram } from '../../activities/programs/readProgram.js';
import type { balanceEndpoints } from '../../schemas/endpoints/balances.js';
import { performKeyedChange } from '../changes/performKeyedChange.js';
import { presentExplanation } from '../presenters/member.js';
import { readMember } from '../reads/members.js';
import type { Routes } from '../request.js';

export const balanceRoutes: Routes<keyof typeof balanceEndpoints> = {
  async earnPoints(request) {
    const { deps, caller, body } = request;
    return performKeyedChange(request, {
      operation: 'earn',
      eventType: 'points.changed',
      rule: () => earnRule(body, { actor: caller.actor, now: deps.now(), reader: earnedReader(deps) }),
      more: ({ delta, rule }) => ({ awarded: delta, rule }),
    });
  },

  async reverseTransaction(request) {
    const { deps, caller, params, body } = request;
    const { transactionId = '' } = params;
    return performKeyedChange(request, {
      operation: 'reverse',
      eventType: 'points.changed',
      rule: (reversalId) =>
        reversalRule(deps, { transactionId, reversalId, body, actor: caller.actor, now: deps.now() }),
    });
  },

  async explainBalance({ deps, caller, params }) {
    const member = await readMember(deps, { merchantId: caller.merchantId, memberId: params.id ?? '' });
    const program = await cachedProgram(deps, member);
    return { data: presentExplanation({ member, program }, deps.now()) };
  },
};
