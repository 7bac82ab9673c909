// Which kind of error an answer of Google is, or the lack of an answer.
import { describe, expect, it } from 'vitest';
import {
  errorOfAnswer,
  type GoogleErrorKind,
  toGoogleWalletError,
} from '../../../activities/wallets/google/googleWalletError.rules.js';

const body = (reason: string) => ({
  error: { code: 0, message: 'Why.', errors: [{ reason, domain: 'walletobjects' }] },
});

describe("Google's errors", () => {
  it.each<[number, unknown, GoogleErrorKind, string]>([
    [400, body('invalid'), 'invalid', 'invalid'],
    [400, { error: 'invalid_grant', error_description: 'Invalid JWT' }, 'forbidden', 'invalid_grant'],
    [401, body('authError'), 'forbidden', 'authError'],
    [403, body('permissionDenied'), 'forbidden', 'permissionDenied'],
    [403, body('quotaExceeded'), 'quota', 'quotaExceeded'],
    [403, '<html>', 'forbidden', '403'],
    [404, body('resourceNotFound'), 'not_found', 'resourceNotFound'],
    [404, { error: { code: 404, message: 'Gone.', status: 'NOT_FOUND' } }, 'not_found', 'NOT_FOUND'],
    [408, undefined, 'transient', '408'],
    [409, { error: { status: 'ABORTED' } }, 'transient', 'ABORTED'],
    [413, null, 'invalid', '413'],
    [429, body('rateLimitExceeded'), 'transient', 'rateLimitExceeded'],
    [500, body('backendError'), 'transient', 'backendError'],
    [503, '', 'transient', '503'],
  ])('%i %j is %s', (status, answer, kind, reason) => {
    expect(errorOfAnswer(status, answer)).toMatchObject({ kind, status, reason });
    expect(toGoogleWalletError({ response: { status, data: answer } })).toMatchObject({ kind, status, reason });
  });

  it.each([
    [Object.assign(new Error('x'), { code: 'ECONNRESET' }), 'ECONNRESET'],
    [Object.assign(new Error('x'), { name: 'TimeoutError', code: 23 }), 'timeout'],
    [new Error('x', { cause: Object.assign(new Error('y'), { code: 'ENOTFOUND' }) }), 'ENOTFOUND'],
    [undefined, 'unknown'],
    ['text', 'unknown'],
  ])('no answer is transient (%#)', (thrown, reason) => {
    expect(toGoogleWalletError(thrown)).toMatchObject({ kind: 'transient', status: null, reason });
  });

  it('contain nothing of the request', () => {
    const thrown = Object.assign(new Error('x'), { config: { headers: { authorization: 'Bearer ya29.secret' } } });
    const error = toGoogleWalletError(thrown);
    expect(JSON.stringify([error, error.message, error.stack, error.cause])).not.toContain('ya29');
  });
});
