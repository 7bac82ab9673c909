// A body that stands still is ended, and one that arrives slower than the largest body of endpoints without large ones.
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import Koa from 'koa';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { allowLongBody, limitBodies } from '../../../api/http/bodyTimeouts.js';
import { createLargeRequests, inTurn } from '../../../api/http/largeRequests.js';
import { answerMalformedRequests } from '../../../api/http/malformedRequests.js';
import { readBody } from '../../../api/http/readBody.js';
import { serverOptions } from '../../../api/http/serverOptions.js';
import { createLog } from '../../../platform/log.js';
import { createMetrics } from '../../../platform/metrics/metrics.js';
import { readConfig } from '../../../schemas/shared/config.schema.js';

const config = readConfig({
  CONSOLE_JWT_SECRET: 'a-console-secret-for-tests-only-0123456789',
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
});
const stillMs = 250;
const lastMs = 1_000;
const leastBytes = 400;

let server: Server;
let read: (request: IncomingMessage) => Promise<void>;
let answerAll: RequestListener;
let socket: Socket;

beforeEach(async () => {
  read = async () => {};
  answerAll = async (request, answer) => {
    request.on('error', () => {}).on('end', () => answer.end('well'));
    await read(request);
    request.resume();
  };
  server = createServer(serverOptions(config), (request, answer) => answerAll(request, answer));
  answerMalformedRequests(server, {
    log: createLog({ LOG_LEVEL: 'silent' }, 'test'),
    metrics: createMetrics(),
  });
  limitBodies(server, { stillMs, lastMs, leastBytes });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

interface Pace {
  pauseMs: number;
  /** After a pause of this process the parts that are late are sent at once. */
  isSteady?: boolean;
  length?: number;
  headers?: string;
}

/** Sends the parts with a pause before each; resolves with the first line of the answer. */
async function sent(
  parts: readonly string[],
  { pauseMs, isSteady = false, length = parts.join('').length, headers = '' }: Pace,
) {
  socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const answer = new Promise<string>((resolve, reject) => {
    socket.once('data', (bytes) => resolve(String(bytes).split('\r\n')[0] ?? ''));
    socket.on('error', reject).once('close', () => resolve('closed'));
  });
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: ${length}\r\n\r\n`);
  const startedAt = performance.now();
  for (const [index, part] of parts.entries()) {
    const isLate = isSteady && performance.now() - startedAt > (index + 1) * pauseMs;
    if (!isLate) await sleep(pauseMs);
    if (!socket.writable) break;
    socket.write(part);
  }
  return answer;
}

const slowly = Array.from({ length: 20 }, () => 'x'.repeat(100));

it('a slow body may last where the endpoint takes large bodies', async () => {
  read = async (request) => allowLongBody(request);
  expect(await sent(slowly, { pauseMs: 100, isSteady: true })).toBe('HTTP/1.1 200 OK');
});

it.each([1, 30])(
  'a large body of which too little arrives is ended, also after a fast start: %i bytes at a time',
  async (size) => {
    read = async (request) => allowLongBody(request);
    const trickle = Array.from({ length: 40 }, () => 'x'.repeat(size));
    const startedAt = performance.now();
    expect(await sent(['x'.repeat(5_000), ...trickle], { pauseMs: 100 })).toBe('HTTP/1.1 408 REQUEST_TIMEOUT');
    expect(performance.now() - startedAt).toBeGreaterThan(lastMs * 0.9);
  },
);

it('a large body that trickles gives its turn to the next one', async () => {
  const turns = { largeRequests: createLargeRequests({ config: { MERCHANT_MAX_LARGE_REQUESTS: 1 } }) };
  const app = new Koa();
  app.silent = true;
  app.use(async (ctx) => {
    allowLongBody(ctx.req);
    await inTurn(turns, { ctx, merchantId: 'one' }, () => readBody(ctx, { maxBytes: 1_000_000 }));
    ctx.body = 'well';
  });
  const answer = app.callback();
  answerAll = (request, response) => answer(request, response);
  const headers = 'Content-Type: application/json\r\n';
  const trickle = Array.from({ length: 80 }, () => 'x');
  const trickled = sent(trickle, { pauseMs: 100, length: 200_000, headers });
  await sleep(100);
  const body = JSON.stringify({ name: 'x'.repeat(200_000) });
  const { port } = server.address() as AddressInfo;
  const startedAt = performance.now();
  const next = await fetch(`http://127.0.0.1:${port}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body,
  });
  expect(next.status).toBe(200);
  expect(performance.now() - startedAt).toBeGreaterThan(lastMs * 0.5);
  expect(await trickled).toBe('HTTP/1.1 408 REQUEST_TIMEOUT');
});

it('a slow body may not last on other endpoints', async () => {
  expect(await sent(slowly, { pauseMs: 100 })).toBe('HTTP/1.1 408 REQUEST_TIMEOUT');
});

it.each([
  ['before its first byte', []],
  ['within it', ['half']],
])('a body that stands still %s is ended before its time is over, also where it may last', async (_where, parts) => {
  read = async (request) => allowLongBody(request);
  const startedAt = performance.now();
  expect(await sent(parts, { pauseMs: 10, length: 100 })).toBe('HTTP/1.1 408 REQUEST_TIMEOUT');
  expect(performance.now() - startedAt).toBeGreaterThan(stillMs * 0.9);
});

it('a body that this process does not read does not stand still', async () => {
  read = async (request) => {
    allowLongBody(request);
    await sleep(6 * stillMs);
  };
  expect(await sent(['x'.repeat(8_000_000)], { pauseMs: 0 })).toBe('HTTP/1.1 200 OK');
});

it('an idle connection after a body is left open', async () => {
  expect(await sent(['body'], { pauseMs: 0 })).toBe('HTTP/1.1 200 OK');
  await sleep(3 * stillMs);
  expect(socket.readyState).toBe('open');
});
