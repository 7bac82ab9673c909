// Every answer of APNs and every failure of a connection, with the outcome for each device.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pino } from 'pino';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type Apns,
  type ApnsOptions,
  createApns,
  type PushAnswer,
} from '../../../activities/wallets/apple/apns.client.js';
import {
  loadAppleCredentials,
  type RealAppleCredentials,
} from '../../../activities/wallets/apple/credentials.rules.js';
import type { AppleSettings } from '../../../activities/wallets/apple/pemSettings.rules.js';
import { timed } from '../../rig/checks/stalls.js';
import {
  type ApnsAnswer,
  type ApnsServer,
  type ApnsServerOptions,
  startApnsServer,
} from '../../rig/standins/apnsServer.js';
import { type AppleCertificates, makeAppleCertificates } from '../../rig/standins/appleCertificates.js';
import { type FrameConnection, startFrameServer } from '../../rig/standins/frameServer.js';

/** The time limit in tests with hanging devices. */
const hangsMs = 3_000;

let certificates: AppleCertificates;
let server: ApnsServer;
let apns: Apns;
const closing: (() => Promise<void> | void)[] = [];

beforeAll(async () => {
  certificates = await makeAppleCertificates();
});

function credentialsWith(settings: AppleSettings = {}): RealAppleCredentials {
  const loaded = loadAppleCredentials({ ...certificates.settings, ...settings }, new Date(Date.now() + 1000));
  if (loaded.mode === 'stub') throw new Error(loaded.reason);
  return loaded;
}

function connectTo(options: Partial<ApnsOptions> = {}): Apns {
  const log = pino({ level: 'silent' });
  const made = createApns({
    origin: server.origin,
    ca: server.ca,
    credentials: credentialsWith(),
    log,
    ...options,
  });
  closing.push(() => made.close());
  return made;
}

async function serve(options?: ApnsServerOptions): Promise<ApnsServer> {
  const started = await startApnsServer(certificates, options);
  closing.push(() => started.close());
  return started;
}

beforeEach(async () => {
  server = await serve();
  apns = connectTo();
});

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const outcomes = (answers: readonly PushAnswer[]) => answers.map(({ pushToken, outcome }) => [pushToken, outcome]);
const tokens = (count: number) => Array.from({ length: count }, (_, index) => `device-${index}`);

describe('a push', () => {
  it("is Apple's empty dictionary to the pass type's topic, authenticated by the pass certificate", async () => {
    expect(await apns.push(['a1'])).toEqual([{ pushToken: 'a1', outcome: 'sent', status: 200 }]);
    expect(server.pushes).toMatchObject([{ pushToken: 'a1', body: '{}', provedBy: 'certificate', connection: 1 }]);
    const headers = server.pushes[0]?.headers ?? {};
    expect(headers).toMatchObject({
      ':method': 'POST',
      ':path': '/3/device/a1',
      'apns-topic': certificates.passTypeId,
      'apns-priority': '10',
    });
    expect(headers).not.toHaveProperty('apns-push-type');
    expect(headers).not.toHaveProperty('authorization');
  });

  it('uses the same connection as the pushes before it', async () => {
    await apns.push(tokens(3));
    await apns.push(tokens(3));
    expect(server.connectionCount()).toBe(1);
  });

  it('to no device opens no connection', async () => {
    expect(await apns.push([])).toEqual([]);
    expect(server.connectionCount()).toBe(0);
  });

  it('to a token of any form stays one segment of the path', async () => {
    const odd = ['../../x', 'a b?c#d', 'ü\u{1f600}', '%2e%2e'];
    expect(outcomes(await apns.push(odd))).toEqual(odd.map((token) => [token, 'sent']));
    expect(server.pushes.map(({ pushToken }) => pushToken).toSorted()).toEqual(odd.toSorted());
    expect(outcomes(await apns.push(['\ud800']))).toEqual([['\ud800', 'sent']]);
  });
});

describe('each answer', () => {
  const matrix: [string, ApnsAnswer, Partial<PushAnswer>][] = [
    ['410', { status: 410, reason: 'Unregistered' }, { outcome: 'gone', status: 410, reason: 'Unregistered' }],
    [
      '400 for a bad token',
      { status: 400, reason: 'BadDeviceToken' },
      { outcome: 'rejected', status: 400, reason: 'BadDeviceToken' },
    ],
    [
      '400 for another topic',
      { status: 400, reason: 'DeviceTokenNotForTopic' },
      { outcome: 'rejected', reason: 'DeviceTokenNotForTopic' },
    ],
    ['403', { status: 403, reason: 'BadCertificate' }, { outcome: 'rejected', status: 403 }],
    ['413', { status: 413, reason: 'PayloadTooLarge' }, { outcome: 'rejected', status: 413 }],
    ['429', { status: 429, reason: 'TooManyRequests' }, { outcome: 'retry', status: 429 }],
    ['500', { status: 500, reason: 'InternalServerError' }, { outcome: 'retry', status: 500 }],
    ['503', { status: 503, reason: 'ServiceUnavailable' }, { outcome: 'retry', status: 503 }],
    ['silence', 'hang', { outcome: 'retry', status: null, reason: 'no answer in time' }],
    ['a reset stream', 'reset', { outcome: 'retry', status: null }],
    ['a cut connection', 'drop', { outcome: 'retry', status: null }],
    ['GOAWAY', 'goaway', { outcome: 'retry', status: null }],
  ];

  it.each(matrix)(
    '%s has its own outcome, and the other devices get their push',
    async (_: string, answer: ApnsAnswer, expected: Partial<PushAnswer>) => {
      server.answer('odd', answer);
      const deadline = answer === 'hang' ? Date.now() + hangsMs : undefined;
      const [first, odd, last] = await apns.push(['good', 'odd', 'fine'], deadline);
      expect(odd).toMatchObject({ pushToken: 'odd', ...expected });
      if (answer === 'drop' || answer === 'goaway') {
        // These answers end the connection for all devices; the next push reaches the others at the latest.
        expect(outcomes(await apns.push(['good', 'fine']))).toEqual([
          ['good', 'sent'],
          ['fine', 'sent'],
        ]);
      } else {
        expect([first?.outcome, last?.outcome]).toEqual(['sent', 'sent']);
      }
    },
  );

  it('for a large number of devices has one outcome for each device, in order', async () => {
    const all = tokens(300);
    for (const token of all.filter((_, index) => index % 3 === 1)) server.answer(token, { status: 410 });
    for (const token of all.filter((_, index) => index % 3 === 2))
      server.answer(token, { status: 400, reason: 'BadDeviceToken' });
    const expected = all.map((token, index) => [token, ['sent', 'gone', 'rejected'][index % 3]]);
    expect(outcomes(await apns.push(all))).toEqual(expected);
  });
});

describe('the time limit', () => {
  it('lets nothing be sent after it, also on an open connection', async () => {
    await apns.push(['before']);
    const late = { outcome: 'retry', status: null, reason: 'no answer in time' };
    expect(await apns.push(['after', 'later'], Date.now())).toMatchObject([late, late]);
    await apns.push(['next']);
    expect(server.pushes.map(({ pushToken }) => pushToken)).toEqual(['before', 'next']);
  });

  it('holds when every device hangs', async () => {
    const all = tokens(50);
    for (const token of all) server.answer(token, 'hang');
    const start = performance.now();
    const answers = await apns.push(all, Date.now() + hangsMs);
    // In sequence, they would take 50 times as long as one.
    expect(performance.now() - start).toBeLessThan(20_000);
    expect(answers.every(({ outcome }) => outcome === 'retry')).toBe(true);
    expect(outcomes(await apns.push(['good']))).toEqual([['good', 'sent']]);
  });

  it('holds when no server listens, and the next push connects again', async () => {
    const nobody = connectTo({ origin: 'https://127.0.0.1:1' });
    expect(await nobody.push(['a'])).toMatchObject([{ outcome: 'retry', status: null }]);
    const port = Number(new URL(server.origin).port);
    await server.close();
    expect(await apns.push(['a'])).toMatchObject([{ outcome: 'retry' }]);
    server = await serve({ port });
    expect(outcomes(await apns.push(['a']))).toEqual([['a', 'sent']]);
  });

  it('holds when the connection opens and sends nothing', async () => {
    const internal = createServer();
    internal.listen(0, '127.0.0.1');
    await once(internal, 'listening');
    const address: string | AddressInfo | null = internal.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const waiting = connectTo({ origin: `https://127.0.0.1:${port}`, connectTimeoutMs: 300 });
    expect(await waiting.push(['a'])).toMatchObject([{ outcome: 'retry', reason: 'connecting took too long' }]);
    internal.close();
  });
});

describe('the connection', () => {
  it('never has more streams than APNs allows, and all devices get their push', async () => {
    server = await serve({ maxConcurrentStreams: 4 });
    const all = tokens(60);
    for (const token of all) server.answer(token, { status: 200, delayMs: 10 });
    expect((await connectTo().push(all)).every(({ outcome }) => outcome === 'sent')).toBe(true);
    expect(server.peakStreams()).toBe(4);
  });

  it('uses more streams as soon as APNs allows more', async () => {
    server = await serve({ maxConcurrentStreams: 1, thenMaxConcurrentStreams: 20 });
    const all = tokens(60);
    for (const token of all) server.answer(token, { status: 200, delayMs: 10 });
    const key = credentialsWith({ APNS_KEY: certificates.apnsKey, APNS_KEY_ID: certificates.apnsKeyId });
    expect((await connectTo({ credentials: key }).push(all)).every(({ outcome }) => outcome === 'sent')).toBe(true);
    expect(server.peakStreams()).toBe(20);
  });

  it('closed by GOAWAY in the middle loses no push, even when most devices were still waiting', async () => {
    server = await serve({ maxConcurrentStreams: 4 });
    const all = tokens(100);
    for (const token of all) server.answer(token, { status: 200, delayMs: 5 });
    server.answer('device-30', 'goaway', { status: 200 });
    server.answer('device-60', 'goaway', { status: 200 });
    expect((await connectTo().push(all)).filter(({ outcome }) => outcome !== 'sent')).toEqual([]);
    expect(server.connectionCount()).toBe(3);
  });

  it('gives the streams of hanging devices to the others', async () => {
    server = await serve({ maxConcurrentStreams: 4 });
    const hanging = ['hangs-1', 'hangs-2', 'hangs-3'];
    for (const token of hanging) server.answer(token, 'hang');
    const answers = await connectTo().push([...hanging, ...tokens(100)], Date.now() + hangsMs);
    expect(answers.slice(0, 3).every(({ outcome }) => outcome === 'retry')).toBe(true);
    expect(answers.slice(3).every(({ outcome }) => outcome === 'sent')).toBe(true);
  });

  it('that was cut while idle loses no push', async () => {
    await apns.push(['a']);
    server.dropConnections();
    expect(outcomes(await apns.push(tokens(20)))).toEqual(tokens(20).map((token) => [token, 'sent']));
    expect(server.connectionCount()).toBe(2);
  });

  it('that died silently is detected by a ping and replaced', async () => {
    const relay = await startRelay(Number(new URL(server.origin).port));
    closing.push(() => relay.close());
    const viaRelay = connectTo({ origin: relay.origin, timeoutMs: 2_000, pingTimeoutMs: 1_000 });
    expect(outcomes(await viaRelay.push(['a']))).toEqual([['a', 'sent']]);
    relay.freeze();
    expect(await viaRelay.push(['a'])).toMatchObject([{ outcome: 'retry' }]);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(outcomes(await viaRelay.push(['a']))).toEqual([['a', 'sent']]);
    expect(server.connectionCount()).toBe(2);
  });

  it('is refused to a server with an untrusted certificate', async () => {
    const { server: stranger } = await makeAppleCertificates();
    expect(await connectTo({ ca: stranger.cert }).push(['a'])).toMatchObject([{ outcome: 'retry', status: null }]);
    expect(server.pushes).toEqual([]);
  });

  it('ends with close, and later pushes report it', async () => {
    await apns.push(['a']);
    await apns.close();
    expect(await apns.push(['a'])).toEqual([{ pushToken: 'a', outcome: 'retry', status: null, reason: 'closed' }]);
  });

  it('of another pass type is refused and removes no device', async () => {
    const other = { ...credentialsWith(), passTypeId: 'pass.com.example.other' };
    expect(await connectTo({ credentials: other }).push(['a'])).toMatchObject([
      { outcome: 'rejected', status: 400, reason: 'TopicDisallowed' },
    ]);
  });
});

describe('a connection that APNs ends', () => {
  const everyStream = 2 ** 31 - 1;
  const soon = (work: () => void) => void setTimeout(work, 20);

  type Ending = (connection: FrameConnection, streamId: number) => void;
  const duringRequest: [string, Ending][] = [
    ['by a GOAWAY that refuses the request', (to) => to.goaway(0)],
    ['by a GOAWAY that refuses the request, and by its end', (to) => [to.goaway(0), to.end()]],
    ['by a GOAWAY that counts the request in and leaves it unanswered', (to, id) => to.goaway(id)],
    ['by a GOAWAY that counts it in, and by its end', (to, id) => [to.goaway(id), soon(to.end)]],
    ['by a GOAWAY that counts it in, and by a cut', (to, id) => [to.goaway(id), soon(to.destroy)]],
    ['by a notice without another GOAWAY', (to) => to.goaway(everyStream)],
    ['by a notice and a GOAWAY that refuses the request', (to) => [to.goaway(everyStream), soon(() => to.goaway(0))]],
    ['by a GOAWAY with an error', (to, id) => to.goaway(id, 2)],
    ['by a GOAWAY after the headers of the answer', (to, id) => [to.headers(id, 200, { end: false }), to.goaway(id)]],
    ['by a GOAWAY after headers, refusing', (to, id) => [to.headers(id, 200, { end: false }), to.goaway(0)]],
    [
      'by a GOAWAY in the middle of the answer',
      (to, id) => [to.headers(id, 400, { end: false }), to.data(id, '{"rea', { end: false }), to.goaway(id)],
    ],
    [
      'by its end in the middle of the answer',
      (to, id) => [to.headers(id, 400, { end: false }), to.data(id, '{"rea', { end: false }), soon(to.end)],
    ],
    ['by a GOAWAY right after the answer', (to, id) => [to.headers(id, 200), to.goaway(id)]],
  ];
  const duringConnect: [string, (connection: FrameConnection) => void][] = [
    ['by a GOAWAY before its SETTINGS', (to) => [to.goaway(0), to.settings()]],
    ['by a GOAWAY with its SETTINGS', (to) => [to.settings(), to.goaway(0)]],
    ['by a GOAWAY with its SETTINGS, and by its end', (to) => [to.settings(), to.goaway(0), to.end()]],
    ['by a GOAWAY with an error and its SETTINGS', (to) => [to.settings(), to.goaway(0, 2)]],
    ['before it sent anything', (to) => to.end()],
  ];
  const answer200 = (to: FrameConnection, id: number) => to.headers(id, 200);

  async function pushesTo(how: Omit<Parameters<typeof startFrameServer>[0], 'tls'>, pushTokens: string[]) {
    const frames = await startFrameServer({ tls: certificates.server, ...how });
    closing.push(() => frames.close());
    const { made, ms } = await timed(() => connectTo({ origin: frames.origin }).push(pushTokens));
    return { answers: outcomes(made), ms };
  }

  it.each(duringRequest)('%s is replaced at once, and every push is sent', async (_, end) => {
    // The end comes with the first request of the first connection, or with the second one.
    for (const odd of [1, 3]) {
      const ended = new Set<FrameConnection>();
      const { answers, ms } = await pushesTo(
        {
          onRequest: (to, id) => {
            if (to.number > 1 || id < odd) return answer200(to, id);
            if (ended.has(to)) return;
            ended.add(to);
            end(to, id);
          },
        },
        tokens(4),
      );
      expect(answers).toEqual(tokens(4).map((token) => [token, 'sent']));
      expect(ms).toBeLessThan(3_000);
    }
  });

  it.each(duringConnect)('%s is replaced at once', async (_, end) => {
    const onConnection = (to: FrameConnection) => (to.number === 1 ? end(to) : to.settings());
    const { answers, ms } = await pushesTo({ onConnection, onRequest: answer200 }, tokens(4));
    expect(answers).toEqual(tokens(4).map((token) => [token, 'sent']));
    expect(ms).toBeLessThan(3_000);
  });

  it('by a GOAWAY may still answer the requests that it accepted: the push is not repeated', async () => {
    let requests = 0;
    const { answers } = await pushesTo(
      {
        onRequest: (to, id) => {
          requests += 1;
          to.goaway(id);
          soon(() => answer200(to, id));
        },
      },
      ['a'],
    );
    expect([answers, requests]).toEqual([[['a', 'sent']], 1]);
  });

  it('every time leaves a push that is tried again later', async () => {
    const { answers, ms } = await pushesTo({ onRequest: (to) => to.goaway(0) }, ['a']);
    expect(answers).toEqual([['a', 'retry']]);
    expect(ms).toBeLessThan(5_000);
  });
});

describe('a push key', () => {
  const MINUTE_MS = 60_000;
  const withKey = (now?: () => Date) => {
    const credentials = credentialsWith({ APNS_KEY: certificates.apnsKey, APNS_KEY_ID: certificates.apnsKeyId });
    return connectTo({ credentials, ...(now && { now }) });
  };
  const sentTokens = () => server.pushes.map(({ headers }) => headers.authorization);

  it('authenticates pushes instead of the certificate, with one token for many pushes', async () => {
    const keyed = withKey();
    await keyed.push(['a', 'b']);
    await keyed.push(['c']);
    expect(server.pushes.map(({ provedBy }) => provedBy)).toEqual(['token', 'token', 'token']);
    expect(new Set(sentTokens()).size).toBe(1);
  });

  it('makes a new token before the old one is an hour old', async () => {
    let at = Date.now() - 50 * MINUTE_MS;
    const keyed = withKey(() => new Date(at));
    await keyed.push(['a']);
    at += 39 * MINUTE_MS;
    await keyed.push(['b']);
    at += 2 * MINUTE_MS;
    await keyed.push(['c']);
    const [first, second, third] = sentTokens();
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  it('makes one new token at once when APNs reports that the old one expired', async () => {
    let at = Date.now() - 70 * MINUTE_MS;
    const keyed = withKey(() => new Date(at));
    expect(await keyed.push(['a'])).toMatchObject([{ outcome: 'rejected', reason: 'ExpiredProviderToken' }]);
    expect(server.pushes).toHaveLength(2);
    at = Date.now();
    expect(outcomes(await keyed.push(['b', 'c']))).toEqual([
      ['b', 'sent'],
      ['c', 'sent'],
    ]);
  });
});

/** Forwards bytes to a port of this machine. After `freeze` the open connections forward nothing more. */
async function startRelay(port: number): Promise<{ origin: string; freeze: () => void; close: () => void }> {
  const sockets = new Set<Socket>();
  const relay = createServer((incoming) => {
    const outgoing = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
    }
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const address: string | AddressInfo | null = relay.address();
  return {
    origin: `https://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    freeze: () => {
      for (const socket of sockets) socket.unpipe().pause();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      relay.close();
    },
  };
}
