// Ledger entries, and answers about balances, as callers see them (docs/interface.md, sections 2.5, 2.8 and 4.5).
import { z } from 'zod';
import { actor } from '../access/actor.schema.js';
import { maxBalance } from '../programs/programs.schema.js';
import { passUpdate } from '../shared/passUpdate.schema.js';
import { rewardState } from './rewards.rules.js';

export const reversible = ['adjust', 'redeem', 'earn'] as const;
export const ledgerType = z.enum(['initial', ...reversible, 'reversal', 'expiry']);
export type LedgerType = z.infer<typeof ledgerType>;

/** The operations of requests with a key: each writes entries of one type. */
export const keyedOperations = ['points', 'redeem', 'earn', 'reverse'] as const;
export type KeyedOperation = (typeof keyedOperations)[number];

export const expiring = z.object({ points: z.int().min(1), at: z.iso.datetime() });

/** The part of a member that answers about its balance have. */
export const memberBalance = z.object({
  id: z.uuid(),
  memberCode: z
    .string()
    .length(10)
    .describe('the Member ID that people see; in the barcode, unless the program shows `externalId` there'),
  fieldValues: z
    .record(z.string(), z.int().min(0).max(maxBalance))
    .describe("the balance, under the program's `fields.primaryLabel` in lower case"),
  balance: z.int().min(0).max(maxBalance).describe('the same number under a name that no program changes'),
});

const rule = z.object({ programVersion: z.int().describe('of the program that decided') });

const moment = z.iso.datetime();

/** The details of a sale, as the till tells them. */
export const saleFacts = {
  amount: z.int().exactOptional().describe('of the sale, in minor units such as cents'),
  currency: z.string().exactOptional().describe('of the amount'),
  reference: z.string().exactOptional().describe('of the till, such as the number of the receipt'),
  location: z.string().exactOptional().describe('where the sale was'),
  occurredAt: moment.exactOptional().describe('when the till made the change'),
};

/** docs/interface.md#28-ledger-entry */
export const transaction = z.object({
  type: ledgerType,
  field: z.string().describe('the name of the balance in the `fieldValues` of the member'),
  previous: z.int().describe('the balance before the change'),
  current: z.int().describe('the balance after the change'),
  delta: z.int().describe('what the change added; negative when it subtracted'),
  tier: z.string().exactOptional().describe('the tier after the change'),
  previousTier: z.string().exactOptional().describe('the tier before the change'),
  changeMessage: z.string().exactOptional().describe('what the lock screen showed'),
  reverses: z.string().exactOptional().describe('the entry that this one reverses'),
  reversedBy: z.string().exactOptional().describe('the entry that reverses this one'),
  reason: z.string().exactOptional().describe('of a reversal'),
  rewardId: z.string().exactOptional().describe('absent when the request named no reward'),
  amount: saleFacts.amount,
  currency: saleFacts.currency,
  reference: saleFacts.reference,
  location: saleFacts.location,
  rule: rule.exactOptional(),
  actor,
  id: z.string(),
  occurredAt: saleFacts.occurredAt,
  createdAt: moment,
});

/** docs/interface.md#25-points-and-redeem-result */
export const balanceResult = z.object({
  member: memberBalance,
  previous: z.int(),
  current: z.int(),
  transaction: transaction.describe('the ledger entry of the change'),
  passUpdate: passUpdate.nullable().describe('null: the wallets did not confirm in time; the balance is saved'),
});
export type BalanceResult = z.infer<typeof balanceResult>;

export const earnResult = balanceResult.extend({ awarded: z.int().describe('points or stamps'), rule });

/** How the balance came about (docs/interface.md#45-timeline-and-ledger). */
export const balanceExplained = z.object({
  balance: z.int(),
  lifetimePoints: z.int().describe('points ever earned'),
  tier: z.string().nullable(),
  next: z.object({ name: z.string(), missing: z.int() }).nullable().describe('the next tier'),
  rewards: z.array(rewardState),
  expiring: z.array(expiring).max(3).describe('what expires next; empty where no points expire'),
  lots: z
    .array(z.object({ points: z.int(), left: z.int(), at: z.iso.datetime() }))
    .describe('points that expire together; what is left adds up to the balance; empty where no points expire'),
  entries: z.int().describe('ledger entries, whose deltas add up to the balance'),
  asOf: z.iso.datetime(),
});
