// The requirements on a receiver's TLS before any byte of an event is sent.
import { createServer, type Server as TcpServer } from 'node:net';
import { createServer as createTlsServer, type Server, type TLSSocket, type TlsOptions } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { createWebhookAgent, type WebhookAgentOptions } from '../../../activities/webhooks/guardedAgent.client.js';
import { sendWebhook } from '../../../activities/webhooks/sendWebhook.client.js';
import { parseCidrs } from '../../../schemas/shared/addresses.rules.js';
import { createTestAuthority } from '../../rig/standins/certificates.js';
import { startReceiver } from '../../rig/standins/receiver.js';

const authority = createTestAuthority();
const stranger = createTestAuthority();
const host = 'hooks.example.test';
const good = authority.issue([host, '127.0.0.1']);
const allow = parseCidrs('127.0.0.1, 10.255.255.0/24');
const yesterday = { notBefore: new Date(Date.now() - 2 * 86_400_000), notAfter: new Date(Date.now() - 86_400_000) };

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function send(url: string, options: Partial<WebhookAgentOptions> = {}, timeoutMs = 20_000) {
  const resolve = async () => ['127.0.0.1'];
  const agent = createWebhookAgent({ allow, allowHttp: true, resolve, ca: authority.ca, ...options });
  ends.push(() => agent.destroy());
  return sendWebhook(agent, { url, headers: {}, body: Buffer.from('{"secret":"bytes"}'), timeoutMs });
}

async function aReceiver(certificate = good) {
  const receiver = await startReceiver(undefined, { certificate });
  ends.push(receiver.stop);
  return receiver;
}

async function listen(server: Server | TcpServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => new Promise((resolve) => server.close(resolve)));
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}

async function aTlsServer(options: TlsOptions, onSocket: (socket: TLSSocket) => void = () => {}): Promise<number> {
  const server = createTlsServer({ cert: good.cert, key: good.key, ...options }, onSocket);
  server.on('tlsClientError', () => {});
  return listen(server);
}

function answer(socket: TLSSocket): void {
  socket.once('data', () => socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
}

describe('a receiver over TLS', () => {
  it('gets the event when its certificate is valid for the name, which SNI contains', async () => {
    const receiver = await aReceiver();
    expect(await send(`https://${host}:${receiver.port}/hook`)).toMatchObject({ ok: true, statusCode: 204 });
    expect(receiver.requests[0]?.headers.host).toBe(`${host}:${receiver.port}`);

    let servername: string | false | null = null;
    const port = await aTlsServer({}, (socket) => {
      servername = socket.servername;
      answer(socket);
    });
    expect(await send(`https://${host}:${port}/`)).toMatchObject({ ok: true });
    expect(servername).toBe(host);
  });

  it('gets the event at an address that its certificate contains', async () => {
    const receiver = await aReceiver();
    expect(await send(`https://127.0.0.1:${receiver.port}/hook`)).toMatchObject({ ok: true });
  });

  it.each([
    ['is for another name', authority.issue(['other.example.test'])],
    ['is for the address alone while a name was asked for', authority.issue(['127.0.0.1'])],
    ['is of an authority that nobody trusts', stranger.issue([host])],
    ['has expired', authority.issue([host], yesterday)],
    [
      'is not valid yet',
      authority.issue([host], {
        notBefore: new Date(Date.now() + 3_600_000),
        notAfter: new Date(Date.now() + 7_200_000),
      }),
    ],
  ])('gets nothing when its certificate %s', async (_what, certificate) => {
    const receiver = await aReceiver(certificate);
    expect(await send(`https://${host}:${receiver.port}/hook`)).toMatchObject({
      ok: false,
      statusCode: null,
      error: 'tls',
    });
    expect(receiver.requests).toHaveLength(0);
  });

  it('gets nothing without a valid certificate, also with NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
    const receiver = await aReceiver(stranger.issue([host]));
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      expect(await send(`https://${host}:${receiver.port}/hook`)).toMatchObject({ ok: false, error: 'tls' });
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    }
    expect(receiver.requests).toHaveLength(0);
  });

  it('gets nothing when it supports no TLS newer than 1.1', async () => {
    const port = await aTlsServer({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' });
    expect(await send(`https://${host}:${port}/`)).toMatchObject({ ok: false, error: 'tls' });
  });

  it('gets the event when it supports TLS 1.2', async () => {
    const port = await aTlsServer({ maxVersion: 'TLSv1.2' }, answer);
    expect(await send(`https://${host}:${port}/`)).toMatchObject({ ok: true });
  });

  it('is a failure of TLS when it speaks plain HTTP', async () => {
    const receiver = await startReceiver();
    ends.push(receiver.stop);
    expect(await send(`https://${host}:${receiver.port}/hook`)).toMatchObject({ ok: false, error: 'tls' });
  });

  it('costs at most timeoutMs when it accepts the connection and never completes the handshake', async () => {
    const sockets: { destroy(): unknown }[] = [];
    const port = await listen(createServer((socket) => sockets.push(socket)));
    expect(await send(`https://${host}:${port}/`, {}, 300)).toMatchObject({ ok: false, error: 'timeout' });
    for (const socket of sockets) socket.destroy();
  });
});
