// The arithmetic of points, stamps, rewards and tiers: pure functions on whole points. A balance never leaves
// 0..2^53-1, and a refused change changes nothing (docs/interface.md, sections 2.4, 3.2 and 4.4).

import { maxBalance, type Program } from '../programs/programs.schema.js';
import { ServiceError } from '../shared/errors.js';

export type Rules = Pick<Program, 'style' | 'goal' | 'tiers' | 'basis'>;

export interface Standing {
  status: 'active' | 'voided' | 'expired';
  balance: number;
  /** All points ever earned; they decide the tier when the basis is `lifetime`. */
  lifetimePoints: number;
}

export type Adjustment = { delta: number } | { value: number };

export interface BalanceChange {
  previous: number;
  current: number;
  /** The actual difference, after the balance was clamped to its range. */
  delta: number;
  lifetimePoints: number;
  tier?: string;
  previousTier?: string;
  tierUpgraded?: boolean;
}

export const clamp = (value: number): number => Math.min(Math.max(value, 0), maxBalance);

function tierIndex(rules: Rules, balance: number, lifetimePoints: number): number {
  const points = rules.basis === 'lifetime' ? lifetimePoints : balance;
  return (rules.tiers ?? []).findLastIndex((tier) => tier.threshold <= points);
}

/** The name of the reached tier; undefined below the first tier and for programs without tiers. */
export function tierOf(rules: Rules, balance: number, lifetimePoints: number): string | undefined {
  return rules.tiers?.[tierIndex(rules, balance, lifetimePoints)]?.name;
}

function change(rules: Rules, before: Standing, current: number): BalanceChange {
  const delta = current - before.balance;
  const lifetimePoints = clamp(before.lifetimePoints + Math.max(delta, 0));
  const result: BalanceChange = { previous: before.balance, current, delta, lifetimePoints };
  if (!rules.tiers) return result;
  const previousIndex = tierIndex(rules, before.balance, before.lifetimePoints);
  const index = tierIndex(rules, current, lifetimePoints);
  const tier = rules.tiers[index]?.name;
  const previousTier = rules.tiers[previousIndex]?.name;
  return {
    ...result,
    ...(tier !== undefined && { tier }),
    ...(previousTier !== undefined && { previousTier }),
    tierUpgraded: index > previousIndex,
  };
}

export function requireActive(standing: Pick<Standing, 'status'>): void {
  if (standing.status !== 'active') throw new ServiceError('MEMBER_NOT_ACTIVE');
}

/** Throws CARD_FULL, with the room in its details. */
function requireRoom({ goal = 0 }: Rules, { balance }: Standing, stamps: number): void {
  const room = Math.max(goal - balance, 0);
  if (stamps > room) throw new ServiceError('CARD_FULL', { room });
}

/** Throws MEMBER_NOT_ACTIVE, STAMP_DELTA_ONLY, CARD_FULL. */
export function adjust(rules: Rules, before: Standing, adjustment: Adjustment): BalanceChange {
  requireActive(before);
  if (rules.style === 'stamps') {
    if (!('delta' in adjustment) || adjustment.delta !== 1) throw new ServiceError('STAMP_DELTA_ONLY');
    requireRoom(rules, before, 1);
  }
  const wanted = 'delta' in adjustment ? before.balance + adjustment.delta : adjustment.value;
  return change(rules, before, clamp(wanted));
}

/** Adds what was earned; all of it must fit on a stamp card. Throws MEMBER_NOT_ACTIVE, CARD_FULL. */
export function award(rules: Rules, before: Standing, points: number): BalanceChange {
  requireActive(before);
  if (rules.style === 'stamps') requireRoom(rules, before, points);
  return change(rules, before, clamp(before.balance + points));
}

/** Expires points; the status of the member does not matter. */
export const expire = (rules: Rules, before: Standing, points: number): BalanceChange =>
  change(rules, before, clamp(before.balance - points));

/**
 * Without a reward, the default reward, which costs the goal; only this one resets a stamp card. Throws
 * MEMBER_NOT_ACTIVE, REWARD_NOT_CONFIGURED, CARD_NOT_FULL; another reward than the default one of a program without
 * stamps: BALANCE_TOO_LOW.
 */
export function redeem(rules: Rules, before: Standing, reward?: { cost: number }): BalanceChange & { goal: number } {
  requireActive(before);
  const goal = reward?.cost ?? rules.goal;
  if (goal === undefined) throw new ServiceError('REWARD_NOT_CONFIGURED');
  const current = before.balance;
  const missing = goal - current;
  if (missing > 0 && reward && rules.style !== 'stamps')
    throw new ServiceError('BALANCE_TOO_LOW', { current, needed: goal, missing });
  if (missing > 0) throw new ServiceError('CARD_NOT_FULL', { goal, current, missing });
  const resets = rules.style === 'stamps' && !reward;
  return { ...change(rules, before, resets ? 0 : current - goal), goal };
}
