// A body that stands still is ended, and one that arrives slowly only where the endpoint takes no large bodies.
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { allowLongBody, limitBodies } from '../../api/bodyTimeouts.js';
import { answerMalformedRequests } from '../../api/malformedRequests.js';
import { serverOptions } from '../../api/serverOptions.js';
import { createLog } from '../../platform/log.js';
import { createMetrics } from '../../platform/metrics/metrics.js';
import { readConfig } from '../../schemas/config.js';

const config = readConfig({
  CONSOLE_JWT_SECRET: 'a-console-secret-for-tests-only-0123456789',
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
});
const stillMs = 250;
const lastMs = 1_000;

let server: Server;
let read: (request: IncomingMessage) => Promise<void>;
let socket: Socket;

beforeEach(async () => {
  read = async () => {};
  server = createServer(serverOptions(config), async (request, answer) => {
    request.on('error', () => {}).on('end', () => answer.end('well'));
    await read(request);
    request.resume();
  });
  answerMalformedRequests(server, {
    log: createLog({ LOG_LEVEL: 'silent' }, 'test'),
    metrics: createMetrics(),
  });
  limitBodies(server, { stillMs, lastMs });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

/** Sends the parts with a pause before each; resolves with the first line of the answer. */
async function sent(
  parts: readonly string[],
  { pauseMs, length = parts.join('').length }: { pauseMs: number; length?: number },
) {
  socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const answer = new Promise<string>((resolve, reject) => {
    socket.once('data', (bytes) => resolve(String(bytes).split('\r\n')[0] ?? ''));
    socket.on('error', reject).once('close', () => resolve('closed'));
  });
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`);
  for (const part of parts) {
    await sleep(pauseMs);
    if (!socket.writable) break;
    socket.write(part);
  }
  return answer;
}

const slowly = Array.from({ length: 20 }, () => 'x'.repeat(100));

it('a slow body may last where the endpoint takes large bodies', async () => {
  read = async (request) => allowLongBody(request);
  expect(await sent(slowly, { pauseMs: 100 })).toBe('HTTP/1.1 200 OK');
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
