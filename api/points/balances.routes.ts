// Changes of points, the ledger, and what explains a balance.

import { pointsRule, redeemRule } from '../../activities/points/balance.rules.js';
import { earnRule } from '../../activities/points/earn.rules.js';
import { earnedReader } from '../../activities/points/earned.reads.js';
import { type ReversedEntry, reversalRule } from '../../activities/points/reversal.rules.js';
import { cachedProgram } from '../../activities/programs/program.reads.js';
import type { balanceEndpoints } from '../../schemas/points/balances.routes.js';
import type { Endpoints } from '../../schemas/tables/endpoints.js';
import type { Request, Routes } from '../http/request.js';
import { readMember } from '../members/members.reads.js';
import { listLedger } from './ledger.reads.js';
import { presentExplanation, presentTransaction } from './ledger.view.js';
import { performKeyedChange } from './performKeyedChange.writes.js';

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
  async adjustPoints(request) {
    const { deps, caller, body } = request;
    return performKeyedChange(request, {
      operation: 'points',
      eventType: 'points.changed',
      rule: () => pointsRule(body, { actor: caller.actor, now: deps.now() }),
    });
  },

  async redeemReward(request) {
    const { deps, caller, body } = request;
    return performKeyedChange(request, {
      operation: 'redeem',
      eventType: 'reward.redeemed',
      rule: () => redeemRule(body, { actor: caller.actor, now: deps.now() }),
    });
  },

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

  async listTransactions({ deps, caller, params, query }) {
    const { items, total } = await listLedger(deps, {
      merchantId: caller.merchantId,
      memberId: params.id ?? '',
      ...query,
    });
    return { data: { items: items.map(presentTransaction), page: query.page, pageSize: query.pageSize, total } };
  },
};
