// How Retry-After is read, and its bounds.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { longestWaitMs } from '../../../schemas/webhooks/retries.rules.js';
import { parseRetryAfter } from '../../../schemas/webhooks/retryAfter.rules.js';

const now = new Date('1994-11-06T08:49:00Z');

describe('Retry-After', () => {
  it.each([
    ['seconds', '120', 120_000],
    ['no wait at all', '0', 0],
    ['white space around it', ' 7 ', 7_000],
    ['an HTTP date', 'Sun, 06 Nov 1994 08:49:37 GMT', 37_000],
    ['a date in RFC 850 form', 'Sunday, 06-Nov-94 08:49:37 GMT', 37_000],
    ['a date in asctime form', 'Sun Nov  6 08:49:37 1994', 37_000],
    ['a date that has passed', 'Sun, 06 Nov 1994 08:48:00 GMT', 0],
    ['more than the longest wait', String(longestWaitMs / 1_000 + 1), longestWaitMs],
    ['a number too large for anything', '9'.repeat(400), longestWaitMs],
    ['a date a year ahead', 'Mon, 06 Nov 1995 08:49:37 GMT', longestWaitMs],
    ['nothing', '', null],
    ['a negative number', '-5', null],
    ['a fraction', '1.5', null],
    ['an exponent', '1e3', null],
    ['an ISO date', '1994-11-06T08:49:37Z', null],
    ['a date that does not exist', 'Sun, 99 Nov 1994 08:49:37 GMT', null],
    ['words', 'soon', null],
  ])('is read when it is %s', (_name, value, expected) => {
    expect(parseRetryAfter(value, now)).toBe(expected);
  });

  it('that is missing has no effect', () => {
    expect(parseRetryAfter(undefined, now)).toBeNull();
  });

  it('is never read as less than zero or more than a day, for any content', () => {
    const values = fc.oneof(
      fc.string(),
      fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
      fc.bigInt().map(String),
    );
    fc.assert(
      fc.property(values, (value) => {
        const wait = parseRetryAfter(value, now);
        expect(wait === null || (wait >= 0 && wait <= longestWaitMs)).toBe(true);
      }),
    );
  });
});
