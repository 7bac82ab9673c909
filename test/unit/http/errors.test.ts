// The table of error codes is a contract: each code has its documented status, and no other code exists.
import { describe, expect, expectTypeOf, it } from 'vitest';
import { type ErrorCode, errorTable, ServiceError } from '../../../schemas/shared/errors.js';

const promised: Record<number, string[]> = {
  400: [
    'VALIDATION_FAILED',
    'MALFORMED_REQUEST',
    'MALFORMED_JSON',
    'IDEMPOTENCY_KEY_MALFORMED',
    'IDEMPOTENCY_KEY_REUSED',
    'TAG_LIMIT_EXCEEDED',
    'PROGRAM_ARCHIVED',
    'PAGE_CLOSED',
    'POSTER_LETTERS_MISSING',
    'MEMBER_NOT_ACTIVE',
    'STAMP_DELTA_ONLY',
    'CARD_FULL',
    'CARD_NOT_FULL',
    'REWARD_NOT_CONFIGURED',
    'REWARD_NOT_FOUND',
    'EARNING_NOT_CONFIGURED',
    'EARN_LIMIT_REACHED',
    'CURRENCY_MISMATCH',
    'NOT_REVERSIBLE',
    'BALANCE_TOO_LOW',
    'IMPORT_TOO_LARGE',
    'IMPORT_INVALID',
    'ROLE_NOT_FOUND',
    'API_KEY_LIMIT_REACHED',
    'WEBHOOK_LIMIT_REACHED',
    'WEBHOOK_URL_FORBIDDEN',
  ],
  401: ['INVALID_API_KEY', 'INVALID_TOKEN', 'AUTHENTICATION_REQUIRED'],
  403: ['PERMISSION_DENIED', 'CONSOLE_SESSION_REQUIRED', 'CSRF_REJECTED'],
  404: [
    'PROGRAM_NOT_FOUND',
    'MEMBER_NOT_FOUND',
    'TRANSACTION_NOT_FOUND',
    'API_KEY_NOT_FOUND',
    'WEBHOOK_NOT_FOUND',
    'DELIVERY_NOT_FOUND',
    'BATCH_NOT_FOUND',
    'ROUTE_NOT_FOUND',
  ],
  405: ['METHOD_NOT_ALLOWED'],
  408: ['REQUEST_TIMEOUT'],
  409: ['IDEMPOTENCY_KEY_IN_USE', 'ALREADY_REVERSED', 'REFERENCE_AMBIGUOUS', 'EMAIL_TAKEN', 'EXTERNAL_ID_TAKEN'],
  413: ['BODY_TOO_LARGE'],
  415: ['UNSUPPORTED_MEDIA_TYPE'],
  417: ['EXPECTATION_FAILED'],
  429: ['RATE_LIMITED'],
  431: ['HEADERS_TOO_LARGE'],
  500: ['INTERNAL'],
  503: ['UNAVAILABLE'],
};

describe('the table of error codes', () => {
  it.each(Object.entries(promised))('answers %s for exactly the documented codes', (status, codes) => {
    const found = Object.entries(errorTable)
      .filter(([code, line]) => line.status === Number(status) && code !== 'PASS_ISSUANCE_FAILED')
      .map(([code]) => code);
    expect(found.sort()).toEqual(expect.arrayContaining([...codes].sort()));
  });

  it('has no undocumented status', () => {
    const statuses = new Set(Object.values(errorTable).map((line) => line.status));
    expect([...statuses].filter((status) => !(status in promised))).toEqual([201]);
  });

  it('describes each code in one plain sentence', () => {
    for (const { message } of Object.values(errorTable)) expect(message).toMatch(/^[A-Z].*\.$/s);
  });
});

describe('a service error', () => {
  it('carries the status and the message of its code, and its details', () => {
    const error = new ServiceError('CARD_NOT_FULL', { missing: 3 });
    expect(error).toMatchObject({ ...errorTable.CARD_NOT_FULL, code: 'CARD_NOT_FULL', details: { missing: 3 } });
    expect(error).toBeInstanceOf(Error);
  });

  it('accepts a known code only', () => {
    expectTypeOf<ConstructorParameters<typeof ServiceError>[0]>().toEqualTypeOf<ErrorCode>();
    expectTypeOf<'NO_SUCH_CODE'>().not.toExtend<ErrorCode>();
  });
});
