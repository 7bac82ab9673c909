// Every byte that comes back over a connection of the API is the service's own: errors that Node would answer itself
// have the envelope and an X-Request-Id and are logged, and idle connections stay open longer than those of proxies.
import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loggedLines } from '../../rig/checks/failureLog.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
beforeAll(async () => {
  service = await startService({ worker: false });
});
afterAll(() => service.stop());

/** Everything that is received until the server closes the connection, or is silent for `quietMs`. */
function exchange(bytes: string | Uint8Array, quietMs = 1_000): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(service.publicUrl).port), '127.0.0.1', () => socket.write(bytes));
    let back = '';
    socket.setEncoding('latin1').on('data', (chunk) => {
      back += chunk;
    });
    socket.setTimeout(quietMs, () => socket.destroy());
    socket.on('close', () => resolve(back)).on('error', (error) => (back ? resolve(back) : reject(error)));
  });
}

const lines = (...text: string[]): string => `${text.join('\r\n')}\r\n\r\n`;

describe('a request that Node would answer itself', () => {
  it.each([
    ['no Host', lines('GET /healthz HTTP/1.1'), 400, 'MALFORMED_REQUEST'],
    ['two Hosts', lines('GET /healthz HTTP/1.1', 'Host: a', 'Host: b'), 400, 'MALFORMED_REQUEST'],
    ['an unknown Expect', lines('GET /healthz HTTP/1.1', 'Host: a', 'Expect: miracle'), 417, 'EXPECTATION_FAILED'],
    [
      'an unknown Expect before a body',
      `${lines('POST /api/v1/merchants/me/members HTTP/1.1', 'Host: a', 'Expect: 200-ok', 'Content-Length: 2')}{}`,
      417,
      'EXPECTATION_FAILED',
    ],
    ['CONNECT', lines('CONNECT example.com:443 HTTP/1.1', 'Host: example.com:443'), 405, 'METHOD_NOT_ALLOWED'],
    ['CONNECT without Host', lines('CONNECT example.com:443 HTTP/1.1'), 405, 'METHOD_NOT_ALLOWED'],
    ['TRACE', lines('TRACE /api/v1/merchants/me/members HTTP/1.1', 'Host: a'), 405, 'METHOD_NOT_ALLOWED'],
    ['OPTIONS of everything', lines('OPTIONS * HTTP/1.1', 'Host: a'), 404, 'ROUTE_NOT_FOUND'],
    ['an unknown method', lines('BREW /pot HTTP/1.1', 'Host: a'), 400, 'MALFORMED_REQUEST'],
    ['an unknown version', lines('GET / HTTP/3.7', 'Host: a'), 400, 'MALFORMED_REQUEST'],
    ['no version', lines('GET /healthz'), 400, 'MALFORMED_REQUEST'],
    ['a folded header', lines('GET / HTTP/1.1', 'Host: a', 'X: a', ' b'), 400, 'MALFORMED_REQUEST'],
    [
      'a length and chunks',
      lines('POST / HTTP/1.1', 'Host: a', 'Content-Length: 1', 'Transfer-Encoding: chunked'),
      400,
      'MALFORMED_REQUEST',
    ],
    ['too many header bytes', lines('GET / HTTP/1.1', 'Host: a', `X: ${'x'.repeat(20_000)}`), 431, 'HEADERS_TOO_LARGE'],
    ['a long address', lines(`GET /${'x'.repeat(20_000)} HTTP/1.1`, 'Host: a'), 431, 'HEADERS_TOO_LARGE'],
  ])('%s is answered in the envelope and logged', async (_what, bytes, status, code) => {
    const answer = await exchange(bytes);
    expect(answer.slice(0, 40)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const [headers = '', body = ''] = answer.split('\r\n\r\n');
    expect(headers).toMatch(/^content-type: application\/json/im);
    expect(JSON.parse(body)).toEqual({ success: false, error: { code, message: expect.any(String) } });
    const requestId = /^x-request-id: (\S{8,})$/im.exec(headers)?.[1] ?? 'none';
    expect(
      loggedLines().filter((line) => line.includes(requestId) && line.includes(`"status":${status}`)),
    ).toHaveLength(1);
  });

  it('an upgrade is ignored and the request is answered', async () => {
    const answer = await exchange(
      lines('GET /healthz HTTP/1.1', 'Host: a', 'Connection: Upgrade', 'Upgrade: websocket'),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toMatch(/^x-request-id: /im);
  });

  it('100-continue is met', async () => {
    const answer = await exchange(
      `${lines('POST /api/v1/enroll/none/submit HTTP/1.1', 'Host: a', 'Content-Type: application/json', 'Expect: 100-continue', 'Content-Length: 2')}{}`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 /);
  });

  it('a request of HTTP/1.0 needs no Host', async () => {
    expect(await exchange(lines('GET /healthz HTTP/1.0'))).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('any bytes get complete answers of the service, or none', async () => {
    const tokens = fc.constantFrom(
      'GET',
      'POST',
      'CONNECT',
      'PRI',
      ' ',
      '/',
      '*',
      'http://a/',
      'a:443',
      'HTTP/1.1',
      '\r\n',
      '\n',
      '\r',
      ':',
      'Host: a\r\n',
      'Expect: x\r\n',
      'Upgrade: h2c\r\n',
      'Connection: upgrade\r\n',
      'Content-Length: 5\r\n',
      'Transfer-Encoding: chunked\r\n',
      '\u0000',
      '\u00ff',
      '0\r\n\r\n',
      '\r\n\r\n',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(tokens, { minLength: 1, maxLength: 14 }), async (parts) => {
        const answer = await exchange(Buffer.from(`${parts.join('')}\r\n\r\n`, 'latin1'), 200);
        const heads = answer
          .split(/(?=HTTP\/1\.1 \d{3} )/)
          .filter((text) => text !== '' && !text.startsWith('HTTP/1.1 100 '));
        for (const one of heads) {
          expect(one).toMatch(/^HTTP\/1\.1 [1-4]\d\d /);
          expect(one).toMatch(/^x-request-id: \S{8,}\r$/im);
        }
      }),
      { numRuns: 150, seed: 20_261_123 },
    );
  });
});
