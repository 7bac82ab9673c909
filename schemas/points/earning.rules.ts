// The earning rule of a program: the points for a sale, and its limits (docs/interface.md#34-earning).
import { z } from 'zod';
import { ServiceError } from '../shared/errors.js';

export const currency = z.string().regex(/^[A-Z]{3}$/, 'must be three capital letters, such as EUR');

/** In minor units, such as cents. */
export const amount = z
  .int('must be a whole number of minor units, such as 1250 for 12.50 EUR')
  .min(0)
  .max(1_000_000_000_000);

export const maxQuantity = 10;

export const earnRule = z.strictObject({
  per: amount.min(1).optional().describe('minor units for which `points` are given'),
  points: z.int().min(1).max(1_000_000_000).optional(),
  currency: currency.optional(),
  dailyLimit: z.int().min(1).optional().describe("points (stamps) of one calendar day in the program's time zone"),
  cooldownSeconds: z.int().min(0).max(31_536_000).optional().describe('between the times of two sales'),
});

type EarnRule = z.output<typeof earnRule>;

interface Earning {
  style: string;
  earn?: EarnRule | undefined;
}

export function* earnMistakes({ style, earn }: Earning): Generator<{ path: string[]; message: string }> {
  if (!earn) return;
  for (const field of ['per', 'points', 'currency'] as const) {
    const path = ['earn', field];
    if (style === 'stamps' && earn[field] !== undefined) yield { path, message: 'belongs to no stamps program' };
    if (style !== 'stamps' && earn[field] === undefined) yield { path, message: 'is required in an earning rule' };
  }
}

interface Sale {
  amount?: number | undefined;
  currency?: string | undefined;
  quantity?: number | undefined;
}

const refuse = (path: string, message: string) => new ServiceError('VALIDATION_FAILED', [{ path, message }]);

/**
 * The points or stamps for a sale. Throws EARNING_NOT_CONFIGURED, CURRENCY_MISMATCH, and VALIDATION_FAILED for a
 * missing amount or an unusable quantity.
 */
export function pointsOf({ style, earn }: Earning, sale: Sale): number {
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
