// Endpoints: docs/interface.md, sections 4.4 and 4.5.

import { endpoint, inLedger, pageOf, paging } from '../access/endpoint.schema.js';
import {
  earnRequest,
  pointsRequest,
  redeemRequest,
  reference,
  reverseByReferenceRequest,
  reverseRequest,
} from './changes.schema.js';
import { balanceExplained, balanceResult, earnResult, transaction } from './ledger.schema.js';

const view = 'merchants.members:view';
const edit = 'merchants.members:edit';
const one = '/merchants/me/members/:id';

const reversing = {
  tag: 'Points and rewards',
  access: edit,
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
  adjustPoints: endpoint('patch', `${one}/points`, {
    tag: 'Points and rewards',
    summary: 'Add, take or set points',
    description: 'Exactly one of `delta` and `value`. Emits `points.changed`.',
    access: edit,
    audit: inLedger,
    idempotent: true,
    body: pointsRequest,
    result: balanceResult,
    errors: ['MEMBER_NOT_FOUND', 'MEMBER_NOT_ACTIVE', 'STAMP_DELTA_ONLY', 'CARD_FULL'],
    example: { delta: 10, changeMessage: 'You now have %@ points' },
  }),
  redeemReward: endpoint('post', `${one}/redeem`, {
    tag: 'Points and rewards',
    summary: 'Redeem a reward',
    description:
      'The reward of `rewardId`, or the one whose price is the goal. The balance loses the price; with the goal a stamp card goes back to 0. Emits `reward.redeemed`.',
    access: edit,
    audit: inLedger,
    idempotent: true,
    body: redeemRequest,
    bodyOptional: true,
    result: balanceResult,
    errors: [
      'MEMBER_NOT_FOUND',
      'MEMBER_NOT_ACTIVE',
      'CARD_NOT_FULL',
      'BALANCE_TOO_LOW',
      'REWARD_NOT_CONFIGURED',
      'REWARD_NOT_FOUND',
    ],
    example: { changeMessage: 'Enjoy your coffee' },
  }),
  earnPoints: endpoint('post', `${one}/earn`, {
    tag: 'Points and rewards',
    summary: "Give the points of a sale, by the program's earning rule",
    description:
      'Points are `amount` x `points` / `per` of the rule, rounded down; 0 is an answer with a ledger entry. Stamps: `quantity`. Limits count by the time of the sale. Emits `points.changed`.',
    access: edit,
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
      'Undoes exactly what the entry did to the balance, the lifetime points, the tier and `redeemedCount`, independent of the present rules of the program. Emits `points.changed` with `reversalOf`.',
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
    access: view,
    result: balanceExplained,
    errors: ['MEMBER_NOT_FOUND'],
  }),
  listTransactions: endpoint('get', `${one}/transactions`, {
    tag: 'Timeline',
    summary: 'Ledger of a member, newest first',
    access: view,
    query: paging.extend({ reference: reference.optional().describe('only the entries with it') }),
    result: pageOf(transaction),
    errors: ['MEMBER_NOT_FOUND'],
  }),
};
