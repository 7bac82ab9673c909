// The rule of a reversal. The reversed row stores the id of its reversal in the same transaction, and the member's
// version guards both, so of two concurrent reversals the second one finds the row reversed.
import type { z } from 'zod';
import type { Deps } from '../../platform/deps.js';
import { update } from '../../platform/mongodb/statements.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { reverseRequest } from '../../schemas/points/changes.schema.js';
import { reversible } from '../../schemas/points/ledger.schema.js';
import type { LedgerRow } from '../../schemas/points/points.rows.js';
import { isReversible, reverse } from '../../schemas/points/reversal.rules.js';
import { isCorrection } from '../../schemas/points/visits.rules.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { tierNow } from '../../schemas/wallets/passes.view.js';
import { balanceDecision, balanceEvent } from '../members/balanceDecision.rules.js';
import type { Decision } from '../members/decision.schema.js';
import type { Asked } from './adjustOrRedeem.rules.js';

type Body = z.output<typeof reverseRequest>;

interface Reversing extends Asked {
  /** What a till says of its undo. */
  sale?: Pick<LedgerRow, 'occurredAt'> | undefined;
}

/** Throws the errors of `reverse`. */
function reversalDecision(
  member: MemberRow,
  { program, row, body, asked }: { program: Program; row: LedgerRow; body: Body; asked: Reversing },
): Decision {
  const standing = { ...member, tier: tierNow({ member, program }) };
  const { change, redeemedCount, undone } = reverse(program, standing, row);
  const { reason, changeMessage } = body;
  const entry = {
    type: 'reversal' as const,
    actor: asked.actor,
    reverses: row._id,
    ...asked.sale,
    ...(reason && { reason }),
    ...(changeMessage && { changeMessage }),
    ...(row.rewardId !== undefined && { rewardId: row.rewardId }),
    ...(isCorrection(row) && { correction: true as const }),
    effect: undone,
  };
  return {
    ...balanceDecision(member, { change, program, entry, redeemedCount, now: asked.now, reversed: row }),
    reversed: row,
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

/**
 * Whether the points that an entry added have expired; `expired` is an expiry that is written with this change. All
 * lots of one moment expire together. An entry without lots is from before its rule, or its points expire by
 * inactivity: they are in the first lot, or gone when nothing was left.
 */
async function isExpired(
  { collections }: Pick<Deps, 'collections'>,
  { row, program, expired }: { row: LedgerRow; program: Program; expired: LedgerRow | undefined },
): Promise<boolean> {
  if (row.delta <= 0 || !program.expiry) return false;
  const { memberId, merchantId, memberVersion } = row;
  const own = row.lots?.find(({ by }) => by > 0);
  const later = await collections.ledger
    .find({
      ...{ memberId, merchantId, memberVersion: { $gt: memberVersion } },
      $or: [{ type: 'expiry' }, ...(own ? [{ 'lots.id': own.id }] : [])],
    })
    .project<Pick<LedgerRow, 'type' | 'lots' | 'current'>>({ type: 1, lots: 1, current: 1 })
    .toArray();
  const expiries = [...later, ...(expired ? [expired] : [])].filter(({ type }) => type === 'expiry');
  if (!own) return expiries.some(({ lots = [], current }) => current === 0 || lots.some(({ id }) => id === 0));
  const over = expiries.flatMap(({ lots = [] }) => lots);
  if (over.some(({ id }) => id === own.id)) return true;
  // What is left of it was merged into another lot of the same moment; what was spent did not expire.
  const left = later.flatMap(({ lots = [] }) => lots).filter(({ id }) => id === own.id);
  return left.reduce((sum, { by }) => sum + by, own.by) > 0 && over.some(({ at }) => at.getTime() === own.at.getTime());
}

type EntryNamed = { _id: string } | { reference: string };

export type ReversedEntry = Body & { entry: EntryNamed };

/**
 * The entry with this id, or the only one with this reference that can be reversed. Throws TRANSACTION_NOT_FOUND,
 * ALREADY_REVERSED, REFERENCE_AMBIGUOUS.
 */
async function entryNamed(
  { read, collections: { ledger } }: Deps,
  { _id: memberId, merchantId }: MemberRow,
  entry: EntryNamed,
): Promise<LedgerRow> {
  if ('_id' in entry) {
    const row = await read.ledger({ ...entry, memberId, merchantId });
    if (row) return row;
    throw new ServiceError('TRANSACTION_NOT_FOUND');
  }
  const withReference = { memberId, merchantId, ...entry };
  const open = { ...withReference, type: { $in: [...reversible] }, reversedBy: { $exists: false } };
  const [row, other] = await ledger.find(open).limit(2).toArray();
  if (other) throw new ServiceError('REFERENCE_AMBIGUOUS');
  if (row) return row;
  throw new ServiceError((await ledger.findOne(withReference)) ? 'ALREADY_REVERSED' : 'TRANSACTION_NOT_FOUND');
}

interface ReversalRuleInput extends Reversing, ReversedEntry {
  /** The id of the ledger entry that the reversal writes. */
  reversalId: string;
}

/** Throws the errors of `entryNamed` and of `reverse` (schemas/points/reversal.rules.ts), and POINTS_EXPIRED. */
export function reversalRule(deps: Deps, { entry, reversalId, actor, now, sale, ...body }: ReversalRuleInput) {
  return async (member: MemberRow, program: Program, expired?: LedgerRow): Promise<Decision> => {
    const row = await entryNamed(deps, member, entry);
    const filter = { _id: row._id, merchantId: member.merchantId, reversedBy: { $exists: false } };
    const isRefused = isReversible(row) && (await isExpired(deps, { row, program, expired }));
    if (isRefused) throw new ServiceError('POINTS_EXPIRED');
    return {
      ...reversalDecision(member, { program, row, body, asked: { actor, now, sale } }),
      updates: [update(deps, 'ledger', filter, { $set: { reversedBy: reversalId } })],
    };
  };
}
