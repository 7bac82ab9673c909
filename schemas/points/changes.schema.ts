// Requests that change points (docs/interface.md, sections 2.4 and 4.4).
import { z } from 'zod';
import { amount, currency } from '../programs/earning.schema.js';
import { momentText } from '../shared/calendar.rules.js';
import { has } from '../shared/presence.js';
import { text } from '../shared/text.js';

const maxQuantity = 10;

const point = z.int().min(-1_000_000_000).max(1_000_000_000);
const changeMessage = text(0, 200);

/** The details of a sale from the till. */
export const reference = text(1, 100);

const sale = {
  reference: reference.optional().describe('of the till, such as the number of the receipt'),
  location: text(1, 100).optional(),
  occurredAt: momentText
    .optional()
    .describe('at most 72 hours old; up to 5 minutes ahead counts as the time of the request'),
};
export type SaleFacts = z.output<z.ZodObject<typeof sale>>;

/** Exactly one of delta and value (docs/interface.md#24-points-request). */
export const pointsRequest = z
  .strictObject({
    delta: point.optional().describe('relative; the balance ends at 0 or more'),
    value: point.min(0).optional().describe('the new balance'),
    changeMessage: changeMessage.optional().describe('shown on the lock screen'),
    ...sale,
  })
  .refine(
    (body) => (body.delta === undefined) !== (body.value === undefined),
    'exactly one of delta and value must be given',
  )
  .meta({ if: has('delta'), else: has('value'), not: has('delta', 'value') });

export const redeemRequest = z
  .strictObject({
    rewardId: text(1, 64).optional().describe('by default the reward whose price is the goal'),
    changeMessage: changeMessage.optional(),
    ...sale,
  })
  .optional();

export const earnRequest = z
  .strictObject({
    amount: amount.optional().describe('of the sale in minor units, such as cents; not needed for stamps'),
    currency: currency.optional().describe("by default the program's"),
    quantity: z.int().min(1).max(maxQuantity).optional().describe('stamps; 1 by default'),
    changeMessage: changeMessage.optional(),
    ...sale,
  })
  .prefault({});

const reversal = {
  reason: text(0, 500).optional().describe('a note, kept in the ledger entry'),
  changeMessage: changeMessage.optional(),
};

export const reverseRequest = z.strictObject(reversal).prefault({});

export const reverseByReferenceRequest = z.strictObject({ reference, ...reversal });
