// Idle connections of the API outlive those of proxies, which reuse them for up to a minute, and do not delay a
// shutdown.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, fetch } from 'undici';
import { expect, it } from 'vitest';
import { createGracefulShutdown } from '../../../api/http/gracefulShutdown.js';
import { serverOptions } from '../../../api/http/serverOptions.js';
import { readConfig } from '../../../schemas/shared/config.schema.js';

const given = {
  CONSOLE_JWT_SECRET: 'a-console-secret-for-tests-only-0123456789',
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
};

async function listening(env: Record<string, string>) {
  const server: Server = createServer(serverOptions(readConfig({ ...given, ...env })), (_request, answer) => {
    answer.end('well');
  });
  const close = createGracefulShutdown(server);
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const agent = new Agent({ connections: 1, keepAliveTimeout: 600_000, keepAliveTimeoutThreshold: 0 });
  const ask = async () => {
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { dispatcher: agent });
    await answer.text();
    return answer.headers.get('keep-alive');
  };
  return { ask, agent, server, close, connections: () => connections };
}

it('an idle connection is kept for 75 s, which it announces, and delays no shutdown', async () => {
  const { ask, agent, server, close, connections } = await listening({});
  expect(await ask()).toBe('timeout=75');
  expect(server.keepAliveTimeout).toBe(75_000);
  await ask();
  expect(connections()).toBe(1);
  const begunAt = performance.now();
  await close({ lingerMs: 100, graceMs: 60_000 });
  expect(performance.now() - begunAt).toBeLessThan(20_000);
  await agent.destroy();
});

it('KEEP_ALIVE_MS sets the limit, after which the connection is closed', async () => {
  const { ask, agent, close, connections } = await listening({ KEEP_ALIVE_MS: '1000' });
  expect(await ask()).toBe('timeout=1');
  await sleep(4_000);
  await ask();
  expect(connections()).toBe(2);
  await close({ lingerMs: 0, graceMs: 0 });
  await agent.destroy();
});
