// Endpoints: docs/interface.md, sections 4.4 and 4.5.

import { endpoint, inLedger } from '../access/endpoint.schema.js';
import { earnRequest, reverseByReferenceRequest, reverseRequest } from '../members/members.schema.js';
import { balanceExplained, balanceResult, earnResult } from './transactions.schema.js';

const one = '/merchants/me/members/:id';

const reversing = {
  tag: 'Points and rewards',
  access: 'merchants.members:edit',
  audit: inLedger,
  idempotent: true,
  result: balanceResult,
} as const;

const reversingErrors = [
  'MEMBER_NOT_FOUND',
  'TRANSACTION_NOT_FOUND',
  'NOT_REVERSIBLE',
  'ALREADY_REVERSED',
  'MEMBER_NOT_ACTIVE',
  'BALANCE_TOO_LOW',
  'POINTS_EXPIRED',
  'CARD_FULL',
] as const;

export const balanceEndpoints = {
  earnPoints: endpoint('post', `${one}/earn`, {
    tag: 'Points and rewards',
    summary: "Give the points of a sale, by the program's earning rule",
    description:
      'Points are `amount` x `points` / `per` of the rule, rounded down; 0 is an answer with a ledger entry. Stamps: `quantity`. Limits count by the time of the sale. Emits `points.changed`.',
    access: 'merchants.members:edit',
    audit: inLedger,
    idempotent: true,
    body: earnRequest,
    bodyOptional: true,
    result: earnResult,
    errors: [
      'MEMBER_NOT_FOUND',
      'MEMBER_NOT_ACTIVE',
      'EARNING_NOT_CONFIGURED',
      'EARN_LIMIT_REACHED',
      'CURRENCY_MISMATCH',
      'CARD_FULL',
    ],
    example: { amount: 1_250, currency: 'EUR', reference: 'receipt 20391', location: 'Main Street' },
  }),
  reverseTransaction: endpoint('post', `${one}/transactions/:transactionId/reverse`, {
    ...reversing,
    summary: 'Reverse a ledger entry',
    description:
      'Undoes exactly what the entry did to the balance, the lifetime points, the tier and `redeemedCount`, whatever the program says today. Emits `points.changed` with `reversalOf`.',
    body: reverseRequest,
    bodyOptional: true,
    errors: reversingErrors,
    example: { reason: 'wrong customer' },
  }),
  reverseByReference: endpoint('post', `${one}/transactions/reverse`, {
    ...reversing,
    summary: 'Reverse the ledger entry with a reference',
    description:
      'The one entry with this reference that is not reversed yet, as if it were named by its id. Emits `points.changed` with `reversalOf`.',
    body: reverseByReferenceRequest,
    errors: [...reversingErrors, 'REFERENCE_AMBIGUOUS'],
    example: { reference: 'receipt 20391', reason: 'wrong customer' },
  }),
  explainBalance: endpoint('get', `${one}/balance`, {
    tag: 'Points and rewards',
    summary: 'The balance of a member and how it came about',
    access: 'merchants.members:view',
    result: balanceExplained,
    errors: ['MEMBER_NOT_FOUND'],
  }),
};
