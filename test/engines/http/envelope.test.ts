// Every JSON response has the envelope of docs/interface.md#13-response-envelope, also for unknown routes, wrong
// methods, and bodies that are invalid, too large or of another content type.
import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, aMerchant, type Call, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService({ worker: false });
  merchant = await aMerchant(service);
});

afterAll(async () => {
  await service.stop();
});

function expectFailure({ status, body, headers }: Answer, [wantedStatus, code]: [number, string]): void {
  expect([status, body?.error?.code]).toEqual([wantedStatus, code]);
  expect(body).toEqual({
    success: false,
    error: {
      code,
      message: expect.any(String),
      ...(body.error.display && { display: expect.any(String) }),
      ...(body.error.details && { details: expect.anything() }),
    },
  });
  expect(headers.get('content-type')).toMatch(/^application\/json/);
  expect(headers.get('X-Request-Id')).toMatch(/^[A-Za-z0-9_-]{8,128}$/);
}

const members = '/merchants/me/members';
const asJson = (body: string | Uint8Array, type = 'application/json'): Call => ({
  method: 'POST',
  body,
  headers: { 'Content-Type': type },
});

describe('an unknown route', () => {
  it.each([
    '/merchants/me/no-such-thing',
    '/merchants/you/members',
    '/merchants/me/members/',
    '/merchants/me/Members',
    '/MERCHANTS/me/members',
    '//merchants/me/members',
    '/merchants/me/members/x/points/y',
    '',
    '/',
  ])('%s is 404 in the envelope', async (path) => {
    expectFailure(await merchant.call(path), [404, 'ROUTE_NOT_FOUND']);
  });

  it('outside of the prefix is 404 in the envelope, too', async () => {
    for (const path of [
      '/nope',
      '/api',
      '/api/v2/merchants/me/members',
      '/%00',
      '/..%2f..%2fetc/passwd',
      '/api/v1%2fmerchants',
    ])
      expectFailure(await merchant.call(`${service.publicUrl}${path}`), [404, 'ROUTE_NOT_FOUND']);
  });
});

describe('another method', () => {
  it.each([
    [members, 'PUT', 'GET, HEAD, POST'],
    [members, 'DELETE', 'GET, HEAD, POST'],
    [`${members}/tags`, 'POST', 'GET, HEAD'],
    [`${members}/x/points`, 'POST', 'PATCH'],
    [`${members}/x/points`, 'GET', 'PATCH'],
    [`${members}/x/redeem`, 'PATCH', 'POST'],
    [`${members}/x/tags`, 'GET', 'DELETE, POST'],
    ['/merchants/me/webhooks/delivery-logs', 'POST', 'GET, HEAD'],
    ['/merchants/me/webhooks/x', 'PUT', 'DELETE, GET, HEAD, PATCH'],
    ['/auth/api-keys', 'PATCH', 'GET, HEAD, POST'],
    [members, 'OPTIONS', 'GET, HEAD, POST'],
  ])('%s by %s is 405 and names the allowed methods: %s', async (path, method, allow) => {
    const answer = await merchant.call(path, { method });
    expectFailure(answer, [405, 'METHOD_NOT_ALLOWED']);
    expect(answer.headers.get('Allow')).toBe(allow);
  });

  it('is 405 without a credential, too', async () => {
    expectFailure(await merchant.call(members, { method: 'PUT', credential: null }), [405, 'METHOD_NOT_ALLOWED']);
    expectFailure(await merchant.call(members, { credential: null }), [401, 'AUTHENTICATION_REQUIRED']);
  });

  it('HEAD is answered like GET without the body', async () => {
    const head = await fetch(`${service.baseUrl}${members}`, {
      method: 'HEAD',
      headers: { 'X-API-Key': merchant.apiKey },
    });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(Number(head.headers.get('content-length'))).toBeGreaterThan(0);
  });
});

describe('a body that is not JSON', () => {
  it.each([
    '{',
    '{"programId":',
    "{'programId':'x'}",
    '{"a":1}}',
    'undefined',
    'NaN',
    '[1,]',
    'hello',
    '\u0000',
    '{"a":"\n"}',
  ])('%j is malformed', async (body) => {
    expectFailure(await merchant.call(members, asJson(body)), [400, 'MALFORMED_JSON']);
  });

  it.each(['"text"', '7', 'null', 'true', '[]'])('%j, which is no object, is not valid', async (body) => {
    expectFailure(await merchant.call(members, asJson(body)), [400, 'VALIDATION_FAILED']);
  });

  it('in broken UTF-8 is refused', async () => {
    const bytes = Buffer.concat([Buffer.from('{"programId":"'), Buffer.from([0xff, 0xfe, 0xc0]), Buffer.from('"}')]);
    const answer = await merchant.call(members, asJson(bytes));
    expectFailure(answer, [400, 'MALFORMED_JSON']);
  });

  it('is required where the endpoint needs one', async () => {
    expectFailure(await merchant.call(members, { method: 'POST' }), [400, 'VALIDATION_FAILED']);
    expectFailure(await merchant.call(members, asJson('')), [400, 'VALIDATION_FAILED']);
  });
});

describe('a body of another kind', () => {
  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/xml',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'json',
    'image/png',
  ])('%s is 415', async (type) => {
    expectFailure(await merchant.call(members, asJson('{"programId":"x"}', type)), [415, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  it('without a content type is 415', async () => {
    const answer = await new Promise<number>((resolve, reject) => {
      const call = request(`${service.baseUrl}${members}`, {
        method: 'POST',
        headers: { 'X-API-Key': merchant.apiKey, 'Content-Length': 2 },
      });
      call.on('response', (response) => resolve(response.resume().statusCode ?? 0)).on('error', reject);
      call.end('{}');
    });
    expect(answer).toBe(415);
  });

  it('compressed is 415, so that a small body cannot expand to a large one', async () => {
    const bomb = gzipSync(Buffer.alloc(5_000_000, ' '));
    const { body, headers } = asJson(bomb);
    const answer = await merchant.call(members, {
      method: 'POST',
      body,
      headers: { ...headers, 'Content-Encoding': 'gzip' },
    });
    expectFailure(answer, [415, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  it.each(['application/json; charset=utf-8', 'application/vnd.api+json', 'APPLICATION/JSON'])(
    '%s is JSON',
    async (type) => {
      expectFailure(await merchant.call(members, asJson('{"programId":"no-such-program"}', type)), [
        404,
        'PROGRAM_NOT_FOUND',
      ]);
    },
  );
});

describe('a large body', () => {
  const filled = (bytes: number) => JSON.stringify({ programId: 'x', firstName: 'x'.repeat(bytes - 32) });

  it('of 10 MB is 413, with and without a credential, with and without Content-Length', async () => {
    const large = filled(10_000_000);
    expectFailure(await merchant.call(members, asJson(large)), [413, 'BODY_TOO_LARGE']);
    const streamed = await fetch(`${service.baseUrl}${members}`, {
      method: 'POST',
      headers: { 'X-API-Key': merchant.apiKey, 'Content-Type': 'application/json' },
      body: new ReadableStream({
        start(controller) {
          for (let at = 0; at < large.length; at += 100_000)
            controller.enqueue(Buffer.from(large.slice(at, at + 100_000)));
          controller.close();
        },
      }),
      // Node's fetch requires this option for a stream; the types lack it.
      ...({ duplex: 'half' } as object),
    });
    expect(streamed.status).toBe(413);
    expect(await streamed.json()).toMatchObject({ success: false, error: { code: 'BODY_TOO_LARGE' } });
  });

  it('just under 100 KB is read, and just over is 413', async () => {
    expectFailure(await merchant.call(members, asJson(filled(102_000))), [400, 'VALIDATION_FAILED']);
    expectFailure(await merchant.call(members, asJson(filled(103_000))), [413, 'BODY_TOO_LARGE']);
  });

  it('without a credential is not read', async () => {
    const answer = await merchant.call(members, { ...asJson(filled(10_000_000)), credential: null });
    expectFailure(answer, [401, 'AUTHENTICATION_REQUIRED']);
  });
});

describe('the request id', () => {
  it('is generated when none was sent, a new one each time', async () => {
    const [one, other] = [await merchant.call(members), await merchant.call(members)];
    expect(one.headers.get('X-Request-Id')).not.toBe(other.headers.get('X-Request-Id'));
  });

  it('is the one that was sent, in successes and failures', async () => {
    const headers = { 'X-Request-Id': 'trace-0123456789_ab' };
    for (const path of [members, '/nope', `${members}/x`])
      expect((await merchant.call(path, { headers })).headers.get('X-Request-Id')).toBe('trace-0123456789_ab');
  });

  it.each(['short', 'x'.repeat(129), 'with space', 'semi;colon', '{"$ne":1}', 'dös-ist-eine-id'])(
    '%s is not used',
    async (given) => {
      const answer = await merchant.call(members, { headers: { 'X-Request-Id': given } });
      expect(answer.headers.get('X-Request-Id')).not.toBe(given);
      expect(answer.headers.get('X-Request-Id')).toMatch(/^[A-Za-z0-9_-]{8,128}$/);
    },
  );
});

it('a success has data in its envelope and nothing else', async () => {
  const { body } = await merchant.call('/merchants/me/members/tags');
  expect(body).toEqual({ success: true, data: { tags: [] } });
});

it("headers over the server's limit end the request, and the service keeps running", async () => {
  const answered = await fetch(`${service.baseUrl}${members}`, { headers: { 'X-Filler': 'x'.repeat(20_000) } }).then(
    (response) => response.status,
    () => 'closed',
  );
  expect([431, 'closed']).toContain(answered);
  expect((await merchant.call(members)).status).toBe(200);
});
