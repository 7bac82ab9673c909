// The points for a sale by the earning rule of a program, and its limits (docs/interface.md#34-earning).
import type { Earning } from '../programs/earning.schema.js';
import { ServiceError } from '../shared/errors.js';

const refuse = (path: string, message: string) => new ServiceError('VALIDATION_FAILED', [{ path, message }]);

/**
 * The points or stamps for a sale. Throws EARNING_NOT_CONFIGURED, CURRENCY_MISMATCH, and VALIDATION_FAILED for a
 * missing amount or an unusable quantity.
 */
export function pointsOf(
  { style, earn }: Earning,
  sale: { amount?: number | undefined; currency?: string | undefined; quantity?: number | undefined },
): number {
  if (style === 'stamps') return sale.quantity ?? 1;
  const { per, points, currency: own } = earn ?? {};
  if (per === undefined || points === undefined) throw new ServiceError('EARNING_NOT_CONFIGURED');
  if (sale.quantity !== undefined) throw refuse('quantity', 'is for stamps programs');
  if (sale.currency !== undefined && sale.currency !== own)
    throw new ServiceError('CURRENCY_MISMATCH', { currency: own });
  if (sale.amount === undefined) throw refuse('amount', 'is required');
  const earned = (BigInt(sale.amount) * BigInt(points)) / BigInt(per);
  return earned > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(earned);
}

export interface Earned {
  soldAt: Date;
  /** Points or stamps. */
  delta: number;
}

interface Limited {
  /** Only when the caller told it: the sale may be one that was made offline. */
  occurredAt: Date | undefined;
}

const limitReached = (limit: 'daily' | 'cooldown', retryAt: Date, facts: Limited) =>
  new ServiceError('EARN_LIMIT_REACHED', { limit, retryAt: retryAt.toISOString() }, undefined, facts);

/**
 * Refuses a sale that exceeds the daily limit. `earned` is the sum of the earnings on the sale's calendar day, which
 * ends at `dayEnd`. Throws EARN_LIMIT_REACHED.
 */
export function requireWithinDay(
  limit: number,
  { awarded, earned, dayEnd, occurredAt }: Limited & { awarded: number; earned: readonly Earned[]; dayEnd: Date },
): void {
  const sum = earned.reduce((total, { delta }) => total + delta, awarded);
  if (awarded > 0 && sum > limit) throw limitReached('daily', dayEnd, { occurredAt });
}

/**
 * Refuses a sale less than `cooldownSeconds` before or after another one; `latest` is the latest of these. Throws
 * EARN_LIMIT_REACHED.
 */
export function requireCooledDown(cooldownSeconds: number, latest: Date | undefined, limited: Limited): void {
  if (latest) throw limitReached('cooldown', new Date(latest.getTime() + cooldownSeconds * 1_000), limited);
}
