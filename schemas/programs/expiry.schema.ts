// The expiry rule of a program (docs/interface.md#36-expiry). Its effect on the lots of a member is in
// schemas/points/expiry.rules.ts.
import { z } from 'zod';

/** Ten years. */
const days = z.int().min(1).max(3_650);

export const expiryRule = z
  .strictObject({
    afterDays: days.optional().describe('each increase expires so many calendar days later'),
    inactiveDays: days
      .optional()
      .describe('everything expires so many calendar days after the last change by a person'),
  })
  .meta({ minProperties: 1, maxProperties: 1 });
export type ExpiryRule = z.output<typeof expiryRule>;

export function* expiryMistakes({ expiry }: { expiry?: ExpiryRule | undefined }) {
  if (expiry && (expiry.afterDays === undefined) === (expiry.inactiveDays === undefined))
    yield { path: ['expiry'], message: 'needs exactly one of afterDays and inactiveDays' };
}

export type ExpiryKind = 'afterDays' | 'inactiveDays';
export const expiryKind = ({ afterDays }: ExpiryRule): ExpiryKind =>
  afterDays === undefined ? 'inactiveDays' : 'afterDays';

/** The fields of a program that expiry depends on. */
export interface Expiring {
  expiry?: ExpiryRule | undefined;
  timeZone?: string | undefined;
  /** Since when the program has a rule of this kind; present only with a rule. */
  expirySince?: Date;
}
