import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBatch, encodeBatch, errorOfPart } from '../../activities/google/batch.js';
import { GoogleWalletError } from '../../activities/google/googleWalletError.js';

const type = 'multipart/mixed; boundary=answer';

function answerPart(id: string | null, status: number, body: unknown, eol = '\r\n'): string {
  const idLine = id === null ? [] : [`Content-ID: <response-${id}>`];
  const head = ['--answer', 'Content-Type: application/http', ...idLine, '', `HTTP/1.1 ${status} Word`];
  return [...head, 'Content-Type: application/json', '', JSON.stringify(body, null, 1), '', ''].join(eol);
}

describe("Google's batches", () => {
  it('are written as one part a request', () => {
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

  it('are read in any order, with either line end, whatever the bodies hold', () => {
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

  it('without ids in their answers are read in the order that they were sent', () => {
    const text = `${answerPart(null, 200, { id: 'a' })}${answerPart(null, 409, {})}--answer--`;
    expect(decodeBatch('multipart/mixed; boundary="answer"', text, 2)).toMatchObject([
      { status: 200 },
      { status: 409 },
    ]);
  });

  it('with an answer missing say that its request is to be sent again', () => {
    const [first, second] = decodeBatch(type, `${answerPart('item-0', 200, {})}--answer--`, 2);
    expect(first).toMatchObject({ status: 200 });
    expect(second).toBeInstanceOf(GoogleWalletError);
    expect(second).toMatchObject({ kind: 'transient', status: null });
  });

  it('whose answer is no batch are to be sent again', () => {
    expect(() => decodeBatch('text/html', '<p>', 1)).toThrow(GoogleWalletError);
  });

  it("give each refused part Google's own reason", () => {
    const body = { error: { code: 403, message: 'Permission Denied', errors: [{ reason: 'permissionDenied' }] } };
    expect(errorOfPart({ status: 403, body })).toMatchObject({ kind: 'forbidden', reason: 'permissionDenied' });
    expect(errorOfPart({ status: 200, body: {} })).toBeNull();
  });
});
