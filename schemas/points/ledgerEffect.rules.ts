// The data that a ledger entry keeps of its change, so that the change can be explained and reversed exactly years
// later, regardless of the current program (docs/decisions/ledger-entries-store-their-effect.md).
import type { Program } from '../programs/programs.schema.js';

type Tiers = Pick<Program, 'tiers' | 'basis'>;

export interface LedgerEffect {
  /** The change of the lifetime points. */
  lifetimePoints: number;
  /** The change of the number of redemptions. */
  redeemedCount: number;
  /** Only in a program with tiers. */
  tier?: {
    /** The member's tier before the change. */
    before: string | null;
    /** The number from which the tier was computed, before the change. */
    points: number;
    tiers: NonNullable<Tiers['tiers']>;
    basis?: NonNullable<Tiers['basis']>;
  };
}

/** The number that decides about the tier. */
export const tierPoints = (
  { basis }: Tiers,
  { balance, lifetimePoints }: { balance: number; lifetimePoints: number },
): number => (basis === 'lifetime' ? lifetimePoints : balance);

/** The effect of a change on a member that was `before` it. */
export function effectOf(
  rules: Tiers,
  before: { balance: number; lifetimePoints: number; tier?: string | undefined },
  change: { lifetimePoints: number; redeemedCount?: number },
): LedgerEffect {
  const { tiers, basis } = rules;
  return {
    lifetimePoints: change.lifetimePoints - before.lifetimePoints,
    redeemedCount: change.redeemedCount ?? 0,
    ...(tiers && {
      tier: { before: before.tier ?? null, points: tierPoints(rules, before), tiers, ...(basis && { basis }) },
    }),
  };
}
