// Errors that Node would answer itself, or not at all, are answered in the envelope and logged, and the connection is
// closed.
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { answerMalformedRequests } from '../../../api/http/malformedRequests.js';
import { createLog } from '../../../platform/log.js';
import { createMetrics } from '../../../platform/metrics/metrics.js';

let server: Server;
let logged: Record<string, unknown>[];
const metrics = createMetrics();

beforeEach(async () => {
  server = createServer({ connectionsCheckingInterval: 50 }, (request, answer) => {
    if (request.url === '/begun') answer.write('begun');
    request
      .on('error', () => {})
      .on('end', () => answer.end('well'))
      .resume();
  });
  logged = [];
  const destination = { write: (line: string) => void logged.push(JSON.parse(line)) };
  answerMalformedRequests(server, { log: createLog({ LOG_LEVEL: 'info' }, 'test', { destination }), metrics });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

/** Everything that is received until the server closes the connection. */
function sent(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () => socket.write(text));
    let back = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      back += chunk;
    });
    socket.on('error', reject).on('close', () => resolve(back));
  });
}

const head = 'GET / HTTP/1.1\r\nHost: x\r\n';

it.each([
  ['text that is no HTTP', 'nonsense\r\n\r\n', 400, 'MALFORMED_REQUEST'],
  ['a header with a control character', `${head}X: a\u0001b\r\n\r\n`, 400, 'MALFORMED_REQUEST'],
  ['two lengths', `${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`, 400, 'MALFORMED_REQUEST'],
  [
    'a broken chunk',
    'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    400,
    'MALFORMED_REQUEST',
  ],
  ['headers without measure', `${head}X: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'HEADERS_TOO_LARGE'],
  ['headers that never end', head, 408, 'REQUEST_TIMEOUT'],
  ['the start of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'MALFORMED_REQUEST'],
  ['a TLS handshake', '\u0016\u0003\u0001\u0002\u0000\u0001', 400, 'MALFORMED_REQUEST'],
  ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n', 405, 'METHOD_NOT_ALLOWED'],
])('%s is answered in the envelope and logged', async (_what, text, status, code) => {
  if (status === 408) Object.assign(server, { requestTimeout: 200, headersTimeout: 200 });
  const answer = await sent(text);
  expect(answer.startsWith(`HTTP/1.1 ${status} `)).toBe(true);
  const [headers = '', body = ''] = answer.split('\r\n\r\n');
  expect(headers).toMatch(/^X-Request-Id: \S{8,}$/m);
  expect(headers).toMatch(/^Connection: close$/m);
  expect(headers).toMatch(new RegExp(`^Content-Length: ${Buffer.byteLength(body)}$`, 'm'));
  expect(JSON.parse(body)).toEqual({ success: false, error: { code, message: expect.any(String) } });
  const [, requestId] = /^X-Request-Id: (\S+)$/m.exec(headers) ?? [];
  expect(logged).toMatchObject([{ requestId, status, code, route: 'none', msg: 'request' }]);
  expect(await metrics.registry.metrics()).toMatch(new RegExp(`status="${status}"`));
});

it('nothing is written into an answer that has started', async () => {
  const answer = await sent('POST /begun HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\nzz\r\n');
  expect(answer).toContain('begun');
  expect(answer).not.toContain('success');
});

it('CONNECT after a request waits for the answer of that request', async () => {
  const answer = await sent(`${head}\r\nCONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n`);
  expect(answer).toContain('well');
  expect(answer).not.toContain('METHOD_NOT_ALLOWED');
});

it('a complete request before it gets its own answer', async () => {
  const answer = await sent(`${head}\r\nnonsense\r\n\r\n`);
  expect(answer.startsWith('HTTP/1.1 200 ')).toBe(true);
  expect(answer).toContain('well');
});
