// A server that stops under load fails no request of a client that goes to another server when its connection is
// refused.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, fetch } from 'undici';
import { describe, expect, it } from 'vitest';
import { createGracefulShutdown } from '../../../api/http/gracefulShutdown.js';

async function aServer(answerAfterMs: number) {
  const server: Server = createServer((_request, answer) => {
    setTimeout(() => answer.end('done'), answerAfterMs);
  });
  const close = createGracefulShutdown(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, close, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const isRefused = (error: unknown): boolean =>
  error instanceof Error &&
  error.cause instanceof Error &&
  'code' in error.cause &&
  error.cause.code === 'ECONNREFUSED';

describe('a server that stops gracefully', () => {
  it('answers all requests that were sent to it and refuses new connections', async () => {
    const { close, url } = await aServer(5);
    const agent = new Agent({ connections: 16 });
    const outcomes: string[] = [];
    let stopped = false;
    const client = async (): Promise<void> => {
      while (!stopped) {
        const outcome = await fetch(url, { dispatcher: agent }).then(
          (answer) => answer.text(),
          (error: unknown) => (isRefused(error) ? 'refused' : `failed: ${String(error)}`),
        );
        outcomes.push(outcome);
        if (outcome === 'refused') return;
      }
    };
    const clients = Array.from({ length: 16 }, client);
    while (outcomes.length < 50) await sleep(10);
    await close({ lingerMs: 1_000, graceMs: 10_000 });
    await sleep(50);
    stopped = true;
    await Promise.all(clients);
    await agent.destroy();
    expect(outcomes.filter((outcome) => outcome === 'done').length).toBeGreaterThanOrEqual(50);
    expect(outcomes.filter((outcome) => outcome.startsWith('failed'))).toEqual([]);
    expect(outcomes.filter((outcome) => outcome === 'refused')).toHaveLength(16);
  });

  it('closes an idle connection after a delay', async () => {
    const { close, url } = await aServer(1);
    const agent = new Agent({ connections: 1, keepAliveTimeout: 60_000 });
    await fetch(url, { dispatcher: agent }).then((answer) => answer.text());
    const closing = close({ lingerMs: 2_000, graceMs: 10_000 });
    await sleep(100);
    const late = await fetch(url, { dispatcher: agent });
    expect(late.headers.get('connection')).toBe('close');
    await late.text();
    await closing;
    await agent.destroy();
  });

  it('answers a request that came on an idle connection while the process was paused', async () => {
    const { close, url } = await aServer(1);
    const { port } = new URL(url);
    const request = 'GET / HTTP/1.1\r\nHost: here\r\n\r\n';
    const socket = connect(Number(port), '127.0.0.1');
    const ended = once(socket, 'close');
    let received = '';
    socket.setEncoding('utf8').on('data', (text) => {
      received += text;
    });
    socket.write(request);
    while (!received.includes('done')) await sleep(5);
    received = '';
    const begunAt = performance.now();
    const closing = close({ lingerMs: 1_000, graceMs: 10_000 });
    await sleep(60);
    // In a turn of the event loop, timers run first, then reads.
    await new Promise<void>((resolve) => setImmediate(resolve));
    socket.write(request);
    while (performance.now() < begunAt + 1_200);
    await Promise.all([closing, ended]);
    expect(received).toContain('done');
    expect(received.toLowerCase()).toContain('connection: close');
  });

  it('cuts requests that do not end within the grace period', async () => {
    const { close, url } = await aServer(60_000);
    const agent = new Agent();
    const hanging = fetch(url, { dispatcher: agent }).then(
      () => 'answered',
      () => 'cut',
    );
    await sleep(100);
    await close({ lingerMs: 50, graceMs: 300 });
    expect(await hanging).toBe('cut');
    await agent.destroy();
  });
});
