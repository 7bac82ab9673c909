// Google's batch requests: how they are written, and how complete and incomplete answers are read.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GoogleWalletError } from '../../../activities/wallets/google/googleWalletError.rules.js';
import { decodeBatch, encodeBatch, errorOfPart } from '../../../activities/wallets/google/multipartBatch.rules.js';

const type = 'multipart/mixed; boundary=answer';

function answerPart(id: string | null, status: number, body: unknown, eol = '\r\n'): string {
  const idLine = id === null ? [] : [`Content-ID: <response-${id}>`];
  const head = ['--answer', 'Content-Type: application/http', ...idLine, '', `HTTP/1.1 ${status} Word`];
  return [...head, 'Content-Type: application/json', '', JSON.stringify(body, null, 1), '', ''].join(eol);
}

describe("Google's batches", () => {
  it('are written with one part for each request', () => {
    const text = encodeBatch('cut', [
      { method: 'POST', path: '/walletobjects/v1/loyaltyObject', body: { id: 'i.a' } },
      { method: 'GET', path: '/walletobjects/v1/loyaltyObject/i.a' },
    ]);
    expect(text.split('\r\n')).toEqual([
      '--cut',
      'Content-Type: application/http',
      'Content-Transfer-Encoding: binary',
      'Content-ID: <item-0>',
      '',
      'POST /walletobjects/v1/loyaltyObject HTTP/1.1',
      'Content-Type: application/json',
      '',
      '{"id":"i.a"}',
      '--cut',
      'Content-Type: application/http',
      'Content-Transfer-Encoding: binary',
      'Content-ID: <item-1>',
      '',
      'GET /walletobjects/v1/loyaltyObject/i.a HTTP/1.1',
      '',
      '--cut--',
      '',
    ]);
  });

  it('are read in any order, with either line ending, for any bodies', () => {
    const body = fc.record({ text: fc.string({ unit: 'grapheme' }), inner: fc.jsonValue() });
    const answers = fc.array(fc.record({ status: fc.integer({ min: 200, max: 599 }), body }), { maxLength: 8 });
    fc.assert(
      fc.property(answers, fc.boolean(), fc.constantFrom('\r\n', '\n'), (given, reversed, eol) => {
        const parts = given.map((answer, index) => answerPart(`item-${index}`, answer.status, answer.body, eol));
        const text = `${(reversed ? parts.reverse() : parts).join('')}--answer--${eol}`;
        const read = decodeBatch(type, text, given.length);
        const wanted: unknown = JSON.parse(JSON.stringify(given));
        expect(JSON.parse(JSON.stringify(read))).toEqual(
          Array.isArray(wanted) ? wanted.map((answer: unknown) => expect.objectContaining(answer)) : [],
        );
      }),
    );
  });

  it('without ids in their answers are read in the order of the requests', () => {
    const text = `${answerPart(null, 200, { id: 'a' })}${answerPart(null, 409, {})}--answer--`;
    expect(decodeBatch('multipart/mixed; boundary="answer"', text, 2)).toMatchObject([
      { status: 200 },
      { status: 409 },
    ]);
  });

  it('with a missing answer report its request as to be repeated', () => {
    const [first, second] = decodeBatch(type, `${answerPart('item-0', 200, {})}--answer--`, 2);
    expect(first).toMatchObject({ status: 200 });
    expect(second).toBeInstanceOf(GoogleWalletError);
    expect(second).toMatchObject({ kind: 'transient', status: null });
  });

  it('with an invalid answer report all requests as to be repeated', () => {
    expect(() => decodeBatch('text/html', '<p>', 1)).toThrow(GoogleWalletError);
  });

  it("report Google's own reason for each refused part", () => {
    const body = { error: { code: 403, message: 'Permission Denied', errors: [{ reason: 'permissionDenied' }] } };
    expect(errorOfPart({ status: 403, body })).toMatchObject({ kind: 'forbidden', reason: 'permissionDenied' });
    expect(errorOfPart({ status: 200, body: {} })).toBeNull();
  });
});
