// The arithmetic of reversals. A reversal undoes the effect that the ledger entry stores, without the rules of the
// current program (docs/decisions/ledger-entries-store-their-effect.md).

import type { Program } from '../programs/programs.schema.js';
import { ServiceError } from '../shared/errors.js';
import { type BalanceChange, clamp, requireActive, type Standing, tierOf } from './balance.rules.js';
import { type LedgerType, reversible } from './ledger.schema.js';
import { type LedgerEffect, tierPoints } from './ledgerEffect.rules.js';

/** The fields of the row that a reversal needs. */
interface Reversible {
  type: LedgerType;
  previous: number;
  delta: number;
  effect: LedgerEffect;
  reversedBy?: string;
}

type Rules = Pick<Program, 'style' | 'goal' | 'tiers' | 'basis'>;

const hasReversibleType = ({ type }: Pick<Reversible, 'type'>): boolean => reversible.some((each) => each === type);

export const isReversible = (row: Pick<Reversible, 'type' | 'reversedBy'>): boolean =>
  hasReversibleType(row) && row.reversedBy === undefined;

type Points = Pick<Standing, 'balance' | 'lifetimePoints'>;

/**
 * The tier after a reversal. When the member is back in the state before the row, it is the tier of that time.
 * Otherwise, because other changes remain, it follows from the rules under which the row was written. A reversal that
 * moves no tier under these rules leaves the member's tier, which may be one of newer rules.
 */
function tierAfter(
  { tier: rules }: LedgerEffect,
  { before, after }: { before: Points & { tier?: string | undefined }; after: Points },
): Pick<BalanceChange, 'tier' | 'tierUpgraded'> {
  if (!rules) return {};
  const reached = ({ balance, lifetimePoints }: Points) =>
    tierOf({ style: 'tiered', ...rules }, balance, lifetimePoints);
  const rankOf = (name: string | undefined) => rules.tiers.findIndex((each) => each.name === name);
  const restored = tierPoints(rules, after) === rules.points ? (rules.before ?? undefined) : reached(after);
  const tier = restored === reached(before) ? before.tier : restored;
  return { ...(tier !== undefined && { tier }), tierUpgraded: rankOf(restored) > rankOf(reached(before)) };
}

interface Reversal {
  change: BalanceChange;
  redeemedCount: number;
  /** The changes of the lifetime points and of the redemptions. */
  undone: Pick<LedgerEffect, 'lifetimePoints' | 'redeemedCount'>;
}

/**
 * `before.tier` is the tier by the live rules. Throws NOT_REVERSIBLE, ALREADY_REVERSED, MEMBER_NOT_ACTIVE,
 * BALANCE_TOO_LOW (with current and needed in its details) and CARD_FULL.
 */
export function reverse(
  rules: Rules,
  before: Standing & { tier?: string | undefined; redeemedCount: number },
  row: Reversible,
): Reversal {
  if (!hasReversibleType(row)) throw new ServiceError('NOT_REVERSIBLE');
  if (row.reversedBy !== undefined) throw new ServiceError('ALREADY_REVERSED');
  requireActive(before);
  const wanted = before.balance - row.delta;
  if (wanted < 0) throw new ServiceError('BALANCE_TOO_LOW', { current: before.balance, needed: row.delta });
  // A card that exceeded the current goal when it was redeemed gets back what it had.
  const capacity = Math.max(rules.goal ?? 0, row.previous);
  if (rules.style === 'stamps' && wanted > before.balance && wanted > capacity)
    throw new ServiceError('CARD_FULL', { room: Math.max(capacity - before.balance, 0) });

  const { effect } = row;
  const current = clamp(wanted);
  const lifetimePoints = clamp(before.lifetimePoints - effect.lifetimePoints);
  const redeemedCount = Math.max(before.redeemedCount - effect.redeemedCount, 0);
  return {
    change: {
      previous: before.balance,
      current,
      delta: current - before.balance,
      lifetimePoints,
      ...tierAfter(effect, { before, after: { balance: current, lifetimePoints } }),
      ...(before.tier !== undefined && { previousTier: before.tier }),
    },
    redeemedCount,
    undone: {
      lifetimePoints: lifetimePoints - before.lifetimePoints,
      redeemedCount: redeemedCount - before.redeemedCount,
    },
  };
}
