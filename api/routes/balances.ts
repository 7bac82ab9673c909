// Earning, reversing a ledger entry, and explaining a balance.

import { earnedReader } from '../../activities/members/earnedReader.js';
import { earnRule } from '../../activities/members/earnRules.js';
import { type ReversedEntry, reversalRule } from '../../activities/members/reversalRules.js';
import { cachedProgram } from '../../activities/programs/readProgram.js';
import type { balanceEndpoints } from '../../schemas/endpoints/balances.js';
import type { Endpoints } from '../../schemas/endpoints/index.js';
import { performKeyedChange } from '../changes/performKeyedChange.js';
import { presentExplanation } from '../presenters/member.js';
import { readMember } from '../reads/members.js';
import type { Request, Routes } from '../request.js';

function performReversal(
  request: Request<Endpoints['reverseTransaction' | 'reverseByReference']>,
  reversed: ReversedEntry,
) {
  const { deps, caller } = request;
  return performKeyedChange(request, {
    operation: 'reverse',
    eventType: 'points.changed',
    rule: (reversalId) => reversalRule(deps, { ...reversed, reversalId, actor: caller.actor, now: deps.now() }),
  });
}

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

  reverseTransaction: (request) => {
    const { transactionId = '' } = request.params;
    return performReversal(request, { ...request.body, entry: { _id: transactionId } });
  },

  reverseByReference: (request) => {
    const { reference, ...body } = request.body;
    return performReversal(request, { ...body, entry: { reference } });
  },

  async explainBalance({ deps, caller, params }) {
    const member = await readMember(deps, { merchantId: caller.merchantId, memberId: params.id ?? '' });
    const program = await cachedProgram(deps, member);
    return { data: presentExplanation({ member, program }, deps.now()) };
  },
};
