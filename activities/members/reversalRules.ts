// The rule of a reversal. The reversed row stores the id of its reversal in the same transaction, and the member's
// version guards both, so of two concurrent reversals the second one finds the row reversed.
import type { z } from 'zod';
import type { Deps } from '../../platform/deps.js';
import { update } from '../../platform/mongodb/statements.js';
import type { LedgerRow, MemberRow } from '../../schemas/collections.js';
import { ServiceError } from '../../schemas/errors.js';
import type { reverseRequest } from '../../schemas/members.js';
import type { Program } from '../../schemas/programs.js';
import { reverse } from '../../schemas/reversal.js';
import { tierNow } from '../wallets/passViews.js';
import { type Asked, balanceDecision, balanceEvent } from './balanceRules.js';
import type { Decision } from './decision.js';

type Body = z.output<typeof reverseRequest>;

/** Throws the errors of `reverse`. */
function reversalDecision(
  member: MemberRow,
  { program, row, body, asked }: { program: Program; row: LedgerRow; body: Body; asked: Asked },
): Decision {
  const standing = { ...member, tier: tierNow({ member, program }) };
  const { change, redeemedCount, undone } = reverse(program, standing, row);
  const { reason, changeMessage } = body;
  const entry = {
    type: 'reversal' as const,
    actor: asked.actor,
    reverses: row._id,
    ...(reason && { reason }),
    ...(changeMessage && { changeMessage }),
    ...(row.rewardId !== undefined && { rewardId: row.rewardId }),
    effect: undone,
  };
  return {
    ...balanceDecision(member, { change, program, entry, redeemedCount, now: asked.now, reversed: row }),
    ...(row.type === 'redeem' && { timeline: { type: 'reward_reversed' } }),
    event: {
      type: 'points.changed',
      data: {
        ...balanceEvent(member, change, entry),
        delta: change.delta,
        reversalOf: { transactionId: row._id, type: row.type },
      },
    },
  };
}

interface ReversalRuleInput extends Asked {
  transactionId: string;
  /** The id of the ledger entry that the reversal writes. */
  reversalId: string;
  body: Body;
}

/** Throws TRANSACTION_NOT_FOUND and the errors of `reverse` (schemas/reversal.ts). */
export function reversalRule(deps: Deps, { transactionId, reversalId, body, ...asked }: ReversalRuleInput) {
  return async (member: MemberRow, program: Program): Promise<Decision> => {
    const { _id: memberId, merchantId } = member;
    const row = await deps.read.ledger({ _id: transactionId, memberId, merchantId });
    if (!row) throw new ServiceError('TRANSACTION_NOT_FOUND');
    const filter = { _id: row._id, merchantId, reversedBy: { $exists: false } };
    return {
      ...reversalDecision(member, { program, row, body, asked }),
      updates: [update(deps, 'ledger', filter, { $set: { reversedBy: reversalId } })],
    };
  };
}
