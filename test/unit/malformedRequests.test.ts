// Input that is no HTTP request is answered in the envelope, and its connection is closed.
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { answerMalformedRequests } from '../../api/malformedRequests.js';

let server: Server;

beforeEach(async () => {
  server = createServer(
    { requestTimeout: 200, headersTimeout: 200, connectionsCheckingInterval: 50 },
    (request, answer) => {
      if (request.url === '/begun') answer.write('begun');
      request
        .on('error', () => {})
        .on('end', () => answer.end('well'))
        .resume();
    },
  );
  answerMalformedRequests(server);
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
])('%s is answered in the envelope', async (_what, text, status, code) => {
  const answer = await sent(text);
  expect(answer.startsWith(`HTTP/1.1 ${status} `)).toBe(true);
  const [headers = '', body = ''] = answer.split('\r\n\r\n');
  expect(headers).toMatch(/^X-Request-Id: \S{8,}$/m);
  expect(headers).toMatch(/^Connection: close$/m);
  expect(headers).toMatch(new RegExp(`^Content-Length: ${Buffer.byteLength(body)}$`, 'm'));
  expect(JSON.parse(body)).toEqual({ success: false, error: { code, message: expect.any(String) } });
});

it('nothing is written into an answer that has started', async () => {
  const answer = await sent('POST /begun HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\nzz\r\n');
  expect(answer).toContain('begun');
  expect(answer).not.toContain('success');
});

it('a complete request before it gets its own answer', async () => {
  const answer = await sent(`${head}\r\nnonsense\r\n\r\n`);
  expect(answer.startsWith('HTTP/1.1 200 ')).toBe(true);
  expect(answer).toContain('well');
});
