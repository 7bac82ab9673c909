// The samples of stack/proxy in front of two APIs: what callers and APIs see of each other is what a security reader
// wants, nothing is done twice, and a rolling restart under load has no fault.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetch } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../schemas/shared/ids.js';
import { apiNames } from '../../crash/rig/cluster.js';
import { type CrashTest, startCrashTest } from '../../crash/rig/crashTest.js';
import { faultsOfSite } from '../../rig/checks/publicSite.js';
import { until } from '../../rig/checks/until.js';
import {
  isInstalled,
  isOldCaddy,
  type ProxyName,
  proxyNames,
  type RunningProxy,
  startProxy,
} from '../../rig/start/proxies.js';

const mebibyte = 1_048_576;
/** Of an import. */
const largestBody = 256 * mebibyte;

const oldCaddy = 'This Caddy loses the body of a request that an API refused (before 2.11.2).';

/** In the place of an API. */
async function startStandIn(answer: RequestListener) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    if (request.url === '/readyz') return response.end();
    requests.push(request);
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    requests,
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
type StandIn = Awaited<ReturnType<typeof startStandIn>>;

describe.each(proxyNames)('%s', (name) => {
  const running: { stop(): unknown }[] = [];
  beforeEach((context) => {
    context.skip(!isInstalled(name), `${name} is not installed here.`);
    return async () => {
      for (const one of running.splice(0).toReversed()) await one.stop();
    };
  });

  async function inFront(answers: readonly RequestListener[]) {
    const apis: StandIn[] = [];
    for (const answer of answers) {
      const api = await startStandIn(answer);
      apis.push(api);
      running.push(api);
    }
    const proxy = await startProxy(name, { apis: apis.map(({ address }) => address), path: '/readyz' });
    running.push(proxy);
    const call = (method: string, init: Parameters<typeof fetch>[1] = {}) =>
      fetch(`${proxy.address}/api/v1/x`, { method, dispatcher: proxy.dispatcher, ...init });
    return { call, apis, seen: () => apis.flatMap(({ requests }) => requests) };
  }

  it('passes on the true address of a client, and not the one that the client names', async () => {
    const { call, seen } = await inFront([(_, response) => response.end()]);
    const headers = {
      'X-Forwarded-For': '203.0.113.9',
      'X-Forwarded-Proto': 'http',
      'Idempotency-Key': 'a-key',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    };
    await call('POST', { headers, body: '{}' });
    expect(seen().map((request) => request.headers)).toEqual([
      expect.objectContaining({
        ...{
          'x-forwarded-for': '127.0.0.1',
          'x-forwarded-proto': 'https',
          host: expect.stringMatching(/^127\.0\.0\.1/),
        },
        ...{ 'idempotency-key': 'a-key', traceparent: headers.traceparent },
      }),
    ]);
  });

  it('passes on the largest import while it comes', async () => {
    let bytes = 0;
    let begun = () => {};
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const { call } = await inFront([
      async (request, response) => {
        for await (const chunk of request) {
          bytes += chunk.length;
          begun();
        }
        response.end(String(bytes));
      },
    ]);
    async function* rows() {
      const row = Buffer.alloc(mebibyte, 'a,b\n');
      yield row;
      await hasBegun;
      for (let sent = mebibyte; sent < largestBody; sent += mebibyte) yield row;
    }
    const answer = await call('POST', { body: Readable.from(rows()), duplex: 'half' });
    expect([answer.status, await answer.text()]).toEqual([200, String(largestBody)]);
  });

  it('passes on an answer while it comes', async () => {
    let last = () => {};
    const { call } = await inFront([
      (_, response) => {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: first\n\n');
        last = () => response.end('data: last\n\n');
      },
    ]);
    const answer = await call('GET');
    const parts: string[] = [];
    for await (const part of answer.body ?? []) {
      parts.push(Buffer.from(part).toString());
      last();
    }
    expect(parts.join('')).toBe('data: first\n\ndata: last\n\n');
    expect(parts.length).toBeGreaterThan(1);
  });

  it.each(['POST', 'PATCH'])('sends a %s to no other API when the first one breaks', async (method) => {
    const { call, seen } = await inFront(
      [1, 2].map(
        (): RequestListener => (request) => {
          request.resume().once('end', () => request.socket.destroy());
        },
      ),
    );
    for (const body of ['{}', undefined]) {
      const before = seen().length;
      const answer = await call(method, { headers: { 'Idempotency-Key': newId() }, ...(body && { body }) });
      expect([answer.status, seen().length - before]).toEqual([502, 1]);
    }
  });

  it('sends what one API refuses to the other, bodies included', async (context) => {
    context.skip(isOldCaddy(name), oldCaddy);
    const echo: RequestListener = (request, response) => request.pipe(response);
    const { call, apis } = await inFront([echo, echo]);
    apis[0]?.stop();
    for (let count = 0; count < 20; count += 1) {
      const body = `${count}`.repeat(100);
      const answer = await call('POST', { body });
      expect([answer.status, await answer.text()]).toEqual([200, body]);
    }
  });
});

const installed = proxyNames.filter(isInstalled);

describe.skipIf(installed.length === 0)('in front of the service', () => {
  let test: CrashTest;
  beforeAll(async () => {
    test = await startCrashTest({ seed: 12, members: 4, env: { TRUST_PROXY: '1' } });
  });
  afterAll(() => test?.stop());

  const toService = (name: ProxyName) =>
    startProxy(name, { apis: apiNames.map((api) => new URL(test.cluster.apis[api]).host), path: '/healthz' });

  /** Clients that repeat nothing. Returns the answers that are the proxy's own, and how many changes were made. */
  async function changesWhile(proxy: RunningProxy, work: () => Promise<void>) {
    const { known } = test.load;
    const faults: string[] = [];
    let answered = 0;
    let isOver = false;
    const change = async (turn: number): Promise<void> => {
      const answer = await fetch(
        `${proxy.address}/api/v1/merchants/me/members/${known[turn % known.length]?.id}/points`,
        {
          method: 'PATCH',
          headers: { 'X-API-Key': test.world.apiKey, 'Idempotency-Key': newId(), 'Content-Type': 'application/json' },
          body: '{"delta":1}',
          dispatcher: proxy.dispatcher,
        },
      );
      const text = await answer.text();
      if (!answer.headers.has('x-request-id')) throw new Error(`${answer.status} ${text.slice(0, 200)}`);
      if (answer.status === 200) answered += 1;
    };
    const clients = Array.from({ length: 4 }, async (_, client) => {
      for (let turn = client; !isOver; turn += 1) {
        await change(turn).catch((error: unknown) => faults.push(`${new Date().toISOString()} ${error}`));
        await sleep(40);
      }
    });
    await work();
    isOver = true;
    await Promise.all(clients);
    return { faults, answered };
  }

  it.each(installed)('%s shows nothing that is inside', async (name) => {
    const proxy = await toService(name);
    try {
      expect(await faultsOfSite(proxy)).toEqual([]);
      if (name === 'nginx') {
        const plain = await fetch(`${proxy.plainAddress}/console?a=b`, { redirect: 'manual' });
        expect([plain.status, plain.headers.get('location')]).toEqual([301, 'https://127.0.0.1/console?a=b']);
      }
    } finally {
      await proxy.stop();
    }
  });

  it.each(installed.filter((name) => !isOldCaddy(name)))(
    '%s passes on a refusal of a large body, and a rolling restart has no fault',
    async (name) => {
      const proxy = await toService(name);
      try {
        const tooLarge = await fetch(`${proxy.address}/api/v1/merchants/me/members`, {
          method: 'POST',
          headers: { 'X-API-Key': test.world.apiKey, 'Idempotency-Key': newId(), 'Content-Type': 'application/json' },
          body: JSON.stringify({ firstName: 'a'.repeat(8 * mebibyte) }),
          dispatcher: proxy.dispatcher,
        });
        expect([tooLarge.status, await tooLarge.text()]).toEqual([413, expect.stringContaining('"code"')]);
        const { faults, answered } = await changesWhile(proxy, async () => {
          const { cluster } = test;
          // One at once after the other.
          for (const api of [...apiNames, ...apiNames]) {
            const before = cluster.recoveries.length;
            cluster.signal(api, 'SIGTERM');
            await until(() => cluster.recoveries.length > before, { everyMs: 50 });
          }
        });
        console.log(`  ${name}: ${answered} answers, ${faults.length} faults`);
        expect(faults).toEqual([]);
        expect(answered).toBeGreaterThan(100);
      } finally {
        await proxy.stop();
      }
    },
  );
});
