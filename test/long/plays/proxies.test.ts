// The samples of stack/proxy in front of two APIs: what callers and APIs see of each other is what a security reader
// wants, nothing is done twice, and a rolling restart under load has no fault.
import type { RequestListener } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetch } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../schemas/shared/ids.js';
import { apiNames } from '../../crash/rig/cluster.js';
import { type CrashTest, startCrashTest } from '../../crash/rig/crashTest.js';
import { faultsOfSite } from '../../rig/checks/publicSite.js';
import { until } from '../../rig/checks/until.js';
import { type StandIn, startGoneHost, startStandIn } from '../../rig/standins/behindProxy.js';
import {
  isInstalled,
  isOldCaddy,
  type ProxyName,
  proxyNames,
  type SampleProxy,
  startProxy,
} from '../../rig/start/proxies.js';

const mebibyte = 1_048_576;
/** Of an import. */
const largestBody = 256 * mebibyte;

/** Of both samples. */
const connectTimeoutMs = 1_000;

const oldCaddy = 'This Caddy loses the body of a request that an API refused (before 2.11.2).';

const notInstalled = (name: ProxyName): string => `${name} is not installed here.`;

describe.each(proxyNames)('%s', (name) => {
  const running: { stop(): unknown }[] = [];
  beforeEach((context) => {
    context.skip(!isInstalled(name), notInstalled(name));
    return async () => {
      for (const one of running.splice(0).toReversed()) await one.stop();
    };
  });

  async function inFront(answers: readonly RequestListener[], others: readonly string[] = []) {
    const apis: StandIn[] = [];
    for (const answer of answers) {
      const api = await startStandIn(answer);
      apis.push(api);
      running.push(api);
    }
    const addresses = [...others, ...apis.map(({ address }) => address)];
    const proxy = await startProxy(name, { apis: addresses, path: '/readyz' });
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

  it('uses an API that is back as soon as the other one stops', async (context) => {
    context.skip(isOldCaddy(name), oldCaddy);
    const { call, apis } = await inFront([1, 2].map((): RequestListener => (_, response) => response.end()));
    const post = async (): Promise<number> => {
      const answer = await call('POST', { body: '{}' });
      await answer.arrayBuffer();
      return answer.status;
    };
    const [first, second] = apis;
    first?.stop();
    for (let count = 0; count < 4; count += 1) expect(await post()).toBe(200);
    running.push(await startStandIn((_, response) => response.end(), first?.port));
    second?.stop();
    for (let count = 0; count < 4; count += 1) expect(await post()).toBe(200);
  });

  it('does not wait each time for a host that is gone', async (context) => {
    context.skip(isOldCaddy(name), oldCaddy);
    const host = await startGoneHost();
    running.push(host);
    const { call } = await inFront([(_, response) => response.end()], [host.address]);
    let late = 0;
    for (let count = 0; count < 60; count += 1) {
      const begunAt = performance.now();
      const answer = await call('POST', { body: '{}' });
      await answer.arrayBuffer();
      expect(answer.status).toBe(200);
      if (performance.now() - begunAt > 0.9 * connectTimeoutMs) late += 1;
    }
    console.log(`  ${name}: ${late} of 60 requests waited for a host that is gone`);
    expect(late).toBeLessThan(15);
  });
});

describe.skipIf(!proxyNames.some(isInstalled))('in front of the service', () => {
  let test: CrashTest;
  beforeAll(async () => {
    test = await startCrashTest({ seed: 12, members: 4, env: { TRUST_PROXY: '1' } });
  });
  afterAll(() => test?.stop());

  const toService = (name: ProxyName) =>
    startProxy(name, { apis: apiNames.map((api) => new URL(test.cluster.apis[api]).host), path: '/healthz' });

  /** Clients that repeat nothing. Returns each request that failed, by whose answer, and how many changes were made. */
  async function changesWhile(proxy: SampleProxy, work: () => Promise<void>) {
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
      const whose = answer.headers.has('x-request-id') ? 'the service' : 'the proxy';
      if (answer.status !== 200) throw new Error(`${whose}: ${answer.status} ${text.slice(0, 200)}`);
      answered += 1;
    };
    const clients = Array.from({ length: 4 }, async (_, client) => {
      for (let turn = client; !isOver; turn += 1) {
        await change(turn).catch((error: unknown) => faults.push(`${new Date().toISOString()} ${error}`));
        await sleep(40);
      }
    });
    try {
      await work();
    } finally {
      isOver = true;
      await Promise.all(clients);
    }
    return { faults, answered };
  }

  it.for(proxyNames)('%s shows nothing that is inside', async (name, context) => {
    context.skip(!isInstalled(name), notInstalled(name));
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

  it.for(proxyNames)(
    '%s passes on a refusal of a large body, and a rolling restart has no fault',
    async (name, context) => {
      context.skip(!isInstalled(name), notInstalled(name));
      context.skip(isOldCaddy(name), oldCaddy);
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
