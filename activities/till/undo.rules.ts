// The rule of an undo at the till: the reversal of the caller's own last change of a member.
import type { Deps } from '../../platform/deps.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { reversible } from '../../schemas/points/ledger.schema.js';
import type { LedgerRow } from '../../schemas/points/points.rows.js';
import { soldAt } from '../../schemas/points/visits.rules.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import type { Decision } from '../members/decision.schema.js';
import { type Asked, saleOf } from '../points/adjustOrRedeem.rules.js';
import { reversalRule } from '../points/reverse.rules.js';

const undoWithinMs = 10 * 60_000;
/** The clock of a till may be corrected between sale and undo. */
const clockMs = 5 * 60_000;

interface Undo extends Asked {
  reversalId: string;
  /** The pairing of the reader; 0 for a person. */
  pairing: number;
  /** The `sequence` of the change. */
  undoes?: number | undefined;
  occurredAt?: string | undefined;
}

/**
 * The ten minutes are those between the sale and the undo at the till. Throws NOTHING_TO_UNDO, VALIDATION_FAILED and
 * the errors of a reversal.
 */
export function undoRule(deps: Deps, { actor, now, reversalId, pairing, undoes, occurredAt }: Undo) {
  return async (member: MemberRow, program: Program, expired?: LedgerRow): Promise<Decision> => {
    const sale = saleOf({ occurredAt }, now);
    const { _id: memberId, merchantId } = member;
    const [last] = await deps.collections.ledger
      .find({
        memberId,
        merchantId,
        'actor.type': actor.type,
        'actor.id': actor.id,
        till: { $exists: true },
        type: { $in: [...reversible] },
      })
      .sort({ memberVersion: -1 })
      .limit(1)
      .toArray();
    const isMeant = undoes === undefined || (last?.till?.sequence === undoes && last.till.pairing === pairing);
    const sinceMs = last ? (sale.occurredAt ?? now).getTime() - soldAt(last).getTime() : Number.NaN;
    if (!last || !isMeant || sinceMs < -clockMs || sinceMs > undoWithinMs) throw new ServiceError('NOTHING_TO_UNDO');
    const reversal = reversalRule(deps, { entry: { _id: last._id }, reversalId, actor, now, sale });
    return reversal(member, program, expired);
  };
}
