// Endpoints of a till's device, and of people who work at the till: docs/interface.md#411-till.
import { endpoint, inLedger } from '../access/endpoint.schema.js';
import { balanceResult, earnResult } from '../points/ledger.schema.js';
import {
  helloRequest,
  helloResult,
  lookupRequest,
  lookupResult,
  pairRequest,
  pairResult,
  tillEarnRequest,
  tillRedeemRequest,
  undoRequest,
} from './till.schema.js';

const tag = 'Till';
const access = 'till:use';

const tap = { tag, access, audit: inLedger, idempotent: true, tap: true } as const;
const found = ['MEMBER_NOT_FOUND', 'CODE_AMBIGUOUS', 'MEMBER_NOT_ACTIVE'] as const;

export const tillEndpoints = {
  pairTill: endpoint('post', '/till/pair', {
    tag,
    summary: 'Exchange a pairing code for the token of a reader',
    description: 'The token of the device that was paired before ends.',
    access: 'public',
    audit: { not: 'writes an entry of its own, with the reader as its actor' },
    body: pairRequest,
    result: pairResult,
    errors: ['PAIRING_CODE_INVALID'],
    example: { code: 'KTRWQEFN' },
  }),
  tillHello: endpoint('post', '/till/hello', {
    tag,
    summary: 'Say how far the device has counted, and read what it needs to work',
    description: 'At each start, each return to the foreground, and each minute.',
    access,
    audit: { not: 'is no change of data' },
    body: helloRequest,
    bodyOptional: true,
    result: helloResult,
    example: { lastSequence: 41, waiting: 2 },
  }),
  tillLookup: endpoint('post', '/till/lookup', {
    tag,
    summary: 'Find the member of a card, or of a phone number or an address where the reader may',
    description:
      'Emits `pass.scanned` for a code. The header `X-Program-Id` names the program of the card. A code of several members is 409 `CODE_AMBIGUOUS` with them in `error.details.candidates`.',
    access,
    audit: { action: 'member.scan', writes: ['members'] },
    body: lookupRequest,
    result: lookupResult,
    headers: ['X-Program-Id'],
    errors: ['MEMBER_NOT_FOUND', 'CODE_AMBIGUOUS'],
    example: { memberCode: '7H2K9M4QXT' },
  }),
  tillEarn: endpoint('post', '/till/earn', {
    ...tap,
    summary: "Give the points of a sale, by the program's earning rule",
    body: tillEarnRequest,
    result: earnResult,
    errors: [...found, 'EARNING_NOT_CONFIGURED', 'EARN_LIMIT_REACHED', 'CURRENCY_MISMATCH', 'CARD_FULL'],
    example: { memberCode: '7H2K9M4QXT', quantity: 1, sequence: 42 },
  }),
  tillRedeem: endpoint('post', '/till/redeem', {
    ...tap,
    summary: 'Redeem a reward',
    body: tillRedeemRequest,
    result: balanceResult,
    errors: [...found, 'CARD_NOT_FULL', 'BALANCE_TOO_LOW', 'REWARD_NOT_CONFIGURED', 'REWARD_NOT_FOUND'],
    example: { memberCode: '7H2K9M4QXT', sequence: 43 },
  }),
  tillUndo: endpoint('post', '/till/undo', {
    ...tap,
    summary: "Undo the caller's own last change of the member, within 10 minutes",
    description:
      'Reverses exactly this entry, also after changes by others. With `undoes` only when the change with this `sequence` is the last one.',
    body: undoRequest,
    result: balanceResult,
    errors: [...found, 'NOTHING_TO_UNDO', 'ALREADY_REVERSED', 'BALANCE_TOO_LOW', 'POINTS_EXPIRED', 'CARD_FULL'],
    example: { memberCode: '7H2K9M4QXT', sequence: 44 },
  }),
};
