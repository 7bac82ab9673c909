// The conformance check that every engine test uses fails for each error that it must detect.
import { describe, expect, it } from 'vitest';
import { type Exchange, mustConform } from '../../rig/checks/conformance.js';

const headers = {
  'Content-Type': 'application/json; charset=utf-8',
  'X-Request-Id': 'abcdefgh',
  'RateLimit-Limit': '1000',
  'RateLimit-Remaining': '999',
  'RateLimit-Reset': '900',
  'RateLimit-Policy': '1000;w=900',
};

const tags = (fields: Partial<Exchange> & { body?: unknown; extra?: Record<string, string> } = {}): Exchange => ({
  method: 'GET',
  url: 'http://127.0.0.1:1/api/v1/merchants/me/members/tags?x=1',
  requestBody: undefined,
  status: 200,
  headers: new Headers({ ...headers, ...fields.extra }),
  text: JSON.stringify(fields.body ?? { success: true, data: { tags: ['vip'] } }),
  ...fields,
});

const failing = (code: string, rest: object = {}) => ({ success: false, error: { code, message: 'No.', ...rest } });

describe('a conforming response', () => {
  it('is assigned to its operation, a literal path before one with a parameter', () => {
    expect(mustConform(tags())).toBe('listTags');
    expect(mustConform(tags({ status: 401, body: failing('INVALID_API_KEY') }))).toBe('listTags');
  });

  it('may be a refusal of an unknown path or method', () => {
    const url = 'http://127.0.0.1:1/api/v1/nothing';
    expect(mustConform(tags({ url, status: 404, body: failing('ROUTE_NOT_FOUND') }))).toBeUndefined();
    const put = { method: 'PUT', status: 405, body: failing('METHOD_NOT_ALLOWED') };
    expect(mustConform(tags({ ...put, extra: { Allow: 'GET' } }))).toBeUndefined();
    expect(() => mustConform(tags(put))).toThrow('Allow is missing');
    expect(() => mustConform(tags({ url }))).toThrow('knows no such operation');
  });
});

describe('a response that does not conform', () => {
  it.each<[string, Exchange, string]>([
    ['a status', tags({ status: 204 }), 'status 204 is not declared'],
    ['a content type', tags({ extra: { 'Content-Type': 'text/html' } }), 'content type text/html'],
    ['an undeclared field', tags({ body: { success: true, data: { tags: [], hash: 'x' } } }), '"hash"'],
    ['an undeclared field next to data', tags({ body: { success: true, data: { tags: [] }, note: 1 } }), '"note"'],
    ['a missing field', tags({ body: { success: true, data: {} } }), '"tags"'],
    ['a wrong type', tags({ body: { success: true, data: { tags: [1] } } }), '/data/tags/0 must be string'],
    [
      'a code of another operation',
      tags({ status: 401, body: failing('MEMBER_NOT_FOUND') }),
      'MEMBER_NOT_FOUND is not among',
    ],
    [
      'details where there are none',
      tags({ status: 401, body: failing('INVALID_TOKEN', { details: 1 }) }),
      '"details"',
    ],
    ['a header', tags({ extra: { 'RateLimit-Limit': 'many' } }), 'header RateLimit-Limit is many'],
  ])('is detected by %s', (_, exchange, problem) => {
    expect(() => mustConform(exchange)).toThrow(problem);
  });

  it('is detected by a missing header', () => {
    const exchange = tags();
    exchange.headers.delete('ratelimit-reset');
    expect(() => mustConform(exchange)).toThrow('the header RateLimit-Reset is null');
  });

  it('is detected by a request that was accepted against the document', () => {
    const url = 'http://127.0.0.1:1/api/v1/merchants/me/scans';
    const refused = tags({
      url,
      method: 'POST',
      requestBody: { cod: 1 },
      status: 404,
      body: failing('MEMBER_NOT_FOUND'),
    });
    expect(mustConform(refused)).toBe('scanPass');
    expect(() => mustConform({ ...refused, status: 200 })).toThrow('the request was taken');
  });
});
