// The earning rule of a program: the points for a sale, and its limits (docs/interface.md#34-earning). The arithmetic
// is in schemas/points/earning.rules.ts.
import { z } from 'zod';

export const currency = z.string().regex(/^[A-Z]{3}$/, 'must be three capital letters, such as EUR');

/** In minor units, such as cents. */
export const amount = z
  .int('must be a whole number of minor units, such as 1250 for 12.50 EUR')
  .min(0)
  .max(1_000_000_000_000);

export const earnRule = z.strictObject({
  per: amount.min(1).optional().describe('minor units for which `points` are given'),
  points: z.int().min(1).max(1_000_000_000).optional(),
  currency: currency.optional(),
  dailyLimit: z.int().min(1).optional().describe("points (stamps) of one calendar day in the program's time zone"),
  cooldownSeconds: z.int().min(0).max(31_536_000).optional().describe('between the times of two sales'),
});

type EarnRule = z.output<typeof earnRule>;

export interface Earning {
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
