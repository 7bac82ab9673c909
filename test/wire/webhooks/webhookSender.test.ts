// One attempt against receivers of every responder: its result, its duration, and the connections that it leaves.
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { Agent } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWebhookAgent } from '../../../activities/webhooks/guardedAgent.client.js';
import { type SendResult, sendWebhook } from '../../../activities/webhooks/sendWebhook.client.js';
import { parseCidrs } from '../../../schemas/shared/addresses.rules.js';
import { webhookHeaders } from '../../../schemas/webhooks/headers.rules.js';
import { makeWebhookSecret, signService } from '../../../schemas/webhooks/signature.rules.js';
import { blockProcess } from '../../rig/standins/blockProcess.js';
import { type Receiver, type ReceiverOptions, type Responder, startReceiver } from '../../rig/standins/receiver.js';
import * as responders from '../../rig/standins/responders.js';

const secret = makeWebhookSecret();
const body = Buffer.from('{"eventId":"evt_1","name":"Zoë","data":{"points":1}}');
const loopback = { allow: parseCidrs('127.0.0.0/8,::1/128'), allowHttp: true };

let agent: Agent;
let receivers: Receiver[];

beforeEach(() => {
  agent = createWebhookAgent(loopback);
  receivers = [];
});

afterEach(async () => {
  await agent.destroy();
  await Promise.all(receivers.map((receiver) => receiver.stop()));
});

async function aReceiver(responder?: Responder, options?: ReceiverOptions): Promise<Receiver> {
  const receiver = await startReceiver(responder, options);
  receivers.push(receiver);
  return receiver;
}

function send(url: string, timeoutMs = 20_000, signal?: AbortSignal): Promise<SendResult> {
  const headers = webhookHeaders({
    eventType: 'points.changed',
    eventId: 'evt_1',
    subscriptionId: 'sub_1',
    secrets: [secret],
    body,
    now: new Date(),
  });
  return sendWebhook(agent, { url, headers, body, timeoutMs, signal });
}

/** Waits until the connection of the attempt is closed. */
const expectGivenUp = (receiver: Receiver) => expect.poll(receiver.underWay).toBe(0);

describe('an attempt', () => {
  it('posts exactly the stored bytes, signed, and succeeds with any 2xx', async () => {
    const receiver = await aReceiver();
    for (const statusCode of [200, 201, 202, 204, 299]) {
      receiver.setResponder(responders.status(statusCode));
      expect(await send(`${receiver.url}?a=1`)).toMatchObject({
        ok: true,
        statusCode,
        error: null,
        detail: null,
        retryAfterMs: null,
      });
    }
    const [first] = receiver.requests;
    expect(first?.method).toBe('POST');
    expect(first?.path).toBe('/hook?a=1');
    expect(first?.body.equals(body)).toBe(true);
    const timestamp = String(first?.headers['x-service-webhook-timestamp']);
    expect(first?.headers).toMatchObject({
      host: `127.0.0.1:${receiver.port}`,
      'content-length': String(body.length),
      'accept-encoding': 'identity',
      'user-agent': 'service-webhook/1.0',
      'x-service-webhook-signature': signService(secret, timestamp, body),
    });
  });

  it.each([300, 301, 302, 303, 304, 307, 308, 400, 401, 404, 418, 429, 500, 502, 503, 504, 599])(
    'fails with class status on %i',
    async (statusCode) => {
      const receiver = await aReceiver(responders.status(statusCode));
      expect(await send(receiver.url)).toMatchObject({ ok: false, statusCode, error: 'status' });
    },
  );

  it('follows no redirect and records its target', async () => {
    const target = await aReceiver();
    const receiver = await aReceiver(responders.redirect(target.url, 307));
    const result = await send(receiver.url);
    expect(result).toMatchObject({ ok: false, statusCode: 307, error: 'status' });
    expect(result.detail).toContain(target.url);
    expect(target.accepted()).toBe(0);
  });

  it('distinguishes 410 from all other failures', async () => {
    const receiver = await aReceiver(responders.gone());
    expect(await send(receiver.url)).toMatchObject({ ok: false, statusCode: 410, error: 'gone' });
  });

  it('reads Retry-After from a failure only', async () => {
    const receiver = await aReceiver(responders.tooMany('120'));
    expect(await send(receiver.url)).toMatchObject({ statusCode: 429, retryAfterMs: 120_000 });
    receiver.setResponder(responders.tooMany(new Date(Date.now() + 3_600_000).toUTCString()));
    expect((await send(receiver.url)).retryAfterMs).toBeGreaterThan(3_500_000);
    receiver.setResponder(responders.status(200, { 'retry-after': '120' }));
    expect(await send(receiver.url)).toMatchObject({ ok: true, retryAfterMs: null });
  });

  it('reports each answer of a receiver that fails twice and then recovers', async () => {
    const receiver = await aReceiver(responders.failThenOk(2));
    const results = [await send(receiver.url), await send(receiver.url), await send(receiver.url)];
    expect(results.map(({ statusCode }) => statusCode)).toEqual([500, 500, 204]);
  });

  it('waits for a slow receiver up to the timeout', async () => {
    const receiver = await aReceiver(responders.slow(300));
    const result = await send(receiver.url);
    expect(result).toMatchObject({ ok: true, statusCode: 204 });
    expect(result.durationMs).toBeGreaterThanOrEqual(295);
    expect(await send(receiver.url, 100)).toMatchObject({ ok: false, error: 'timeout' });
  });

  it('reaches localhost and IPv6 loopback when they are allowed', async () => {
    const receiver = await aReceiver(undefined, { host: '::1' });
    expect(await send(receiver.url)).toMatchObject({ ok: true });
    expect(await send(`http://localhost:${receiver.port}/hook`)).toMatchObject({ ok: true });
    expect(await send(`http://hooks.localhost:${receiver.port}/hook`)).toMatchObject({ ok: true });
  });

  it('reports a port without a listener as refused, and a reset connection as reset', async () => {
    const receiver = await aReceiver(responders.reset());
    expect(await send(receiver.url)).toMatchObject({ ok: false, statusCode: null, error: 'reset' });
    await receiver.stop();
    receivers = [];
    expect(await send(receiver.url)).toMatchObject({ ok: false, statusCode: null, error: 'refused' });
  });

  it.each([
    ['is not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['is the preface of another protocol', '\x00\x00\x12\x04\x00'],
    ['has a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ])('reports an answer that %s as a protocol error', async (_what, text) => {
    const receiver = await aReceiver(responders.raw(text));
    expect(await send(receiver.url)).toMatchObject({ ok: false, statusCode: null, error: 'protocol' });
  });

  const large = (bytes: number) => `x-${'a'.repeat(58)}: ${'b'.repeat(60)}\r\n`.repeat(Math.ceil(bytes / 124));
  const unasked = 'HTTP/1.1 100 Continue\r\n\r\n';
  it.each([
    ['20 kB of headers', '', `${large(20_000)}content-length: 0\r\n\r\n`],
    ['200 kB of headers', '', `${large(200_000)}content-length: 0\r\n\r\n`],
    ['one header of 17 kB', '', `x-a: ${'b'.repeat(17_000)}\r\n\r\n`],
    ['two lengths', '', 'content-length: 1\r\ncontent-length: 2\r\n\r\n..'],
    ['a header line without a colon', '', 'no colon here\r\n\r\n'],
    ['a NUL in a header', '', 'x-a: \x00\r\n\r\n'],
    ['broken chunks', '', 'transfer-encoding: chunked\r\n\r\nzz\r\n'],
    ['an unasked 100 Continue before it', unasked, 'content-length: 0\r\n\r\n'],
    ['several interim answers before it', `${unasked}HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n${unasked}`, '\r\n'],
    ['20 kB of interim headers before it', `HTTP/1.1 103 Early Hints\r\n${large(20_000)}\r\n`, '\r\n'],
  ])('is what its status line says with %s', async (_what, before, after) => {
    const receiver = await aReceiver();
    for (const [line, expected] of [
      ['200 OK', { ok: true, statusCode: 200, error: null }],
      ['202', { ok: true, statusCode: 202, error: null }],
      ['503 No', { ok: false, statusCode: 503, error: 'status' }],
      ['410 Gone', { ok: false, statusCode: 410, error: 'gone' }],
    ] as const) {
      receiver.setResponder(responders.raw(`${before}HTTP/1.1 ${line}\r\n${after}`));
      expect(await send(receiver.url)).toMatchObject(expected);
    }
    receiver.setResponder(responders.ok());
    expect(await send(receiver.url)).toMatchObject({ ok: true, statusCode: 204 });
  });

  it.each([
    ['its headers', 'HTTP/1.1 200 OK\r\ncontent-le', true],
    ['its body', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab', true],
    ['its chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab', true],
    ['an interim answer', 'HTTP/1.1 100 Continue\r\nx: HTTP/1.1 200 OK\r\n', false],
    ['its status line', 'HTTP/1.1 200', false],
  ])('has the status of the answer that ends in the middle of %s', async (_what, text, ok) => {
    const receiver = await aReceiver((_request, answer) => answer.socket?.end(text));
    expect(await send(receiver.url)).toMatchObject(ok ? { ok, statusCode: 200 } : { ok, error: 'reset' });
  });

  it('has the same result however its answer is cut into packets', async () => {
    const text =
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nlink: a\r\n\r\nHTTP/1.1 503 No\r\nretry-after: 7\r\nconnection: close\r\ncontent-length: 0\r\n\r\n';
    const receiver = await aReceiver();
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(text.length), { maxLength: 6 }), async (cuts) => {
        const ends = [...cuts.sort((one, other) => one - other), text.length];
        receiver.setResponder(async (_request, answer) => {
          for (const [index, end] of ends.entries()) {
            answer.socket?.write(text.slice(index === 0 ? 0 : ends[index - 1], end));
            await sleep(2);
          }
        });
        expect(await send(receiver.url)).toMatchObject({ statusCode: 503, retryAfterMs: 7_000 });
      }),
      { numRuns: 40 },
    );
  });

  it('does not treat an interim answer or an upgrade as the answer', async () => {
    const receiver = await aReceiver(
      responders.raw('HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\nHTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n'),
    );
    expect(await send(receiver.url)).toMatchObject({ ok: false, statusCode: 500, error: 'status' });
    receiver.setResponder(
      responders.raw('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    );
    expect(await send(receiver.url)).toMatchObject({ ok: false, statusCode: null });
  });
});

describe('the duration of an attempt', () => {
  it.each([
    ['never answers', responders.hang(), 'timeout'],
    ['says 200 and drips its headers for ever', responders.dripHeaders(20), null],
    ['sends interim answers for ever', endlessInterim(), 'timeout'],
    ['says 200 and drips its body for ever', responders.drip(20), null],
    ['says 500 and drips its body for ever', responders.drip(20, 500), 'status'],
  ])('is timeoutMs against a receiver that %s', async (_what, responder, error) => {
    const receiver = await aReceiver(responder);
    // Long enough for a slow machine to read the status line.
    const timeoutMs = error === 'timeout' ? 400 : 2_000;
    const startedAt = performance.now();
    const result = await send(receiver.url, timeoutMs);
    expect(result).toMatchObject({ error, ok: error === null });
    expect(result.durationMs).toBeGreaterThan(0.95 * timeoutMs);
    expect(result.durationMs).toBeLessThanOrEqual(Math.ceil(performance.now() - startedAt));
    await expectGivenUp(receiver);
  });

  it('includes the name lookup, and nothing is sent when its answer comes too late', async () => {
    const receiver = await aReceiver();
    let answerLate: (addresses: string[]) => void = () => {};
    agent = createWebhookAgent({
      allow: parseCidrs('127.0.0.1,192.168.0.0/16'),
      allowHttp: true,
      resolve: () =>
        new Promise((resolve) => {
          answerLate = resolve;
        }),
    });
    const result = await send(`http://hooks.example.test:${receiver.port}/`, 200);
    expect(result).toMatchObject({ ok: false, statusCode: null, error: 'timeout' });
    answerLate(['127.0.0.1']);
    await sleep(300);
    expect(receiver.requests).toHaveLength(0);
  });

  it('is over for a process that was paused before it was connected: nothing is sent', async () => {
    const receiver = await aReceiver();
    const dispatch = agent.dispatch.bind(agent);
    agent.dispatch = (options, handler) =>
      dispatch(options, {
        ...handler,
        onRequestStart(controller, context) {
          blockProcess(300);
          handler.onRequestStart?.(controller, context);
        },
      });
    expect(await send(receiver.url, 200)).toMatchObject({ ok: false, statusCode: null, error: 'timeout' });
    await sleep(300);
    expect(receiver.requests).toHaveLength(0);
  });

  it('ends at once when the attempt is aborted, before or while it runs', async () => {
    const receiver = await aReceiver(responders.hang());
    const stop = new AbortController();
    const running = send(receiver.url, 5_000, stop.signal);
    await receiver.waitFor((requests) => requests.length === 1);
    stop.abort();
    expect(await running).toMatchObject({ ok: false, error: 'aborted' });
    await expectGivenUp(receiver);
    expect(await send(receiver.url, 5_000, stop.signal)).toMatchObject({ ok: false, error: 'aborted' });
    expect(receiver.requests).toHaveLength(1);
  });

  it('ends at an abort after the answer with that answer', async () => {
    const receiver = await aReceiver(responders.drip(10));
    const stop = new AbortController();
    const dispatch = agent.dispatch.bind(agent);
    const answered = new Promise<void>((resolve) => {
      agent.dispatch = (options, handler) =>
        dispatch(options, {
          ...handler,
          onResponseStart(...given) {
            handler.onResponseStart?.(...given);
            resolve();
          },
        });
    });
    const running = send(receiver.url, 5_000, stop.signal);
    await answered;
    stop.abort();
    expect(await running).toMatchObject({ ok: true, statusCode: 200 });
  });
});

describe('the body of an answer', () => {
  it.each([
    ['without end', responders.endlessBody(), { ok: true, statusCode: 200 }],
    ['without end after a failure', responders.endlessBody(503), { ok: false, statusCode: 503, error: 'status' }],
    ['that is a gzip bomb', responders.gzipBomb(), { ok: true, statusCode: 200 }],
    ['of 17 KB', responders.status(200, {}, 'x'.repeat(17_408)), { ok: true, statusCode: 200 }],
  ])('%s is cut at 16 KB, does not change the result and closes its socket', async (_what, responder, expected) => {
    const receiver = await aReceiver(responder);
    const result = await send(receiver.url, 20_000);
    expect(result).toMatchObject(expected);
    expect(result.durationMs).toBeLessThan(20_000);
    await expectGivenUp(receiver);
  });

  it('within 16 KB leaves the socket for the next attempt', async () => {
    const receiver = await aReceiver(responders.status(200, {}, 'x'.repeat(16_384)));
    for (let count = 0; count < 20; count += 1) expect(await send(receiver.url)).toMatchObject({ ok: true });
    // Up to two, because undici waits for one turn of the event loop before it reuses a socket.
    expect(receiver.accepted()).toBeLessThanOrEqual(2);
  });

  it('that was cut is never read as the next answer', async () => {
    const smuggled = `HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n${'x'.repeat(20_000)}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`;
    const receiver = await aReceiver();
    for (let round = 0; round < 10; round += 1) {
      receiver.setResponder(responders.raw(smuggled));
      expect(await send(receiver.url)).toMatchObject({ ok: true, statusCode: 200 });
      receiver.setResponder(responders.status(500));
      expect(await send(receiver.url)).toMatchObject({ ok: false, statusCode: 500 });
    }
  });

  it('with bytes after its end does not answer the next request', async () => {
    const receiver = await aReceiver((_request, answer) => {
      answer.socket?.write('HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    });
    for (let round = 0; round < 5; round += 1) expect(await send(receiver.url)).toMatchObject({ statusCode: 500 });
  });

  it('uses no memory, however many receivers send without end', async () => {
    const receiver = await aReceiver(responders.endlessBody());
    await Promise.all(Array.from({ length: 20 }, () => send(receiver.url)));
    const before = process.memoryUsage().rss;
    for (let round = 0; round < 10; round += 1) {
      const results = await Promise.all(Array.from({ length: 20 }, () => send(receiver.url)));
      expect(results.every((result) => result.ok)).toBe(true);
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1_048_576);
    // undici 7 opens one unused connection after an aborted request (nodejs/undici#5845); that one closes, too.
    await expect.poll(receiver.open).toBe(0);
  });
});

describe('receivers side by side', () => {
  it('on one origin do not wait for those that hang', async () => {
    const receiver = await aReceiver((request, answer) =>
      request.path === '/hang' ? undefined : responders.ok()(request, answer),
    );
    const origin = `http://127.0.0.1:${receiver.port}`;
    const stop = new AbortController();
    const hanging = Array.from({ length: 100 }, () => send(`${origin}/hang`, 60_000, stop.signal));
    await receiver.waitFor((requests) => requests.length === 100);
    expect(await send(`${origin}/good`, 30_000)).toMatchObject({ ok: true });
    stop.abort();
    expect((await Promise.all(hanging)).every(({ error }) => error === 'aborted')).toBe(true);
  });
});

function endlessInterim(): Responder {
  return (_request, answer) => {
    const timer = setInterval(() => answer.socket?.write('HTTP/1.1 102 Processing\r\n\r\n'), 20);
    answer.socket?.on('close', () => clearInterval(timer));
  };
}
