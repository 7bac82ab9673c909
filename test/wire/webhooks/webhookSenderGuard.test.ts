// No socket is ever opened to a forbidden address, whatever the form of the URL or the name: an async hook observes
// every connect request to libuv, below the service's code.
import fc from 'fast-check';
import { request } from 'undici';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createWebhookAgent, type WebhookAgentOptions } from '../../../activities/webhooks/guardedAgent.client.js';
import { type SendResult, sendWebhook } from '../../../activities/webhooks/sendWebhook.client.js';
import { WebhookError } from '../../../activities/webhooks/webhookError.rules.js';
import { forbiddenRanges, parseCidrs } from '../../../schemas/shared/addresses.rules.js';
import { ipv4Text, ipv6Text, within } from '../../rig/checks/cidrs.js';
import { type ConnectWatch, watchConnects } from '../../rig/checks/connectWatch.js';
import { hostileUrls } from '../../rig/standins/hostileUrls.js';
import { type Receiver, startReceiver } from '../../rig/standins/receiver.js';
import * as responders from '../../rig/standins/responders.js';

/** 127.0.0.1 is the only allowed address; the rest of loopback stands for the forbidden ones. */
const onlyOne = parseCidrs('127.0.0.1');
/** The setting of an operator who also allows a network with names. */
const oneAndNetwork = parseCidrs('127.0.0.1, 10.255.255.0/24');

let receiver: Receiver;
let connects: ConnectWatch;

beforeAll(async () => {
  receiver = await startReceiver(responders.status(204, { connection: 'close' }), { host: '0.0.0.0' });
});
afterAll(() => receiver.stop());
beforeEach(() => {
  connects = watchConnects();
});
afterEach(() => connects.stop());

async function send(url: string, options: WebhookAgentOptions): Promise<SendResult> {
  const agent = createWebhookAgent(options);
  try {
    return await sendWebhook(agent, { url, headers: {}, body: Buffer.from('{}'), timeoutMs: 20_000 });
  } finally {
    await agent.destroy();
  }
}

describe('the connection watch', () => {
  it('sees an allowed connection, so an empty list means that there was none', async () => {
    expect(await send(`http://127.0.0.1:${receiver.port}/`, { allow: onlyOne, allowHttp: true })).toMatchObject({
      ok: true,
    });
    expect(connects.take()).toEqual(['127.0.0.1']);
    const byName = { allow: oneAndNetwork, allowHttp: true, resolve: async () => ['127.0.0.1'] };
    expect(await send(`http://hooks.example.test:${receiver.port}/`, byName)).toMatchObject({ ok: true });
    expect(connects.take()).toEqual(['127.0.0.1']);
    await request(`http://127.0.0.2:${receiver.port}/`, { method: 'POST', body: '{}' });
    expect(connects.take()).toEqual(['127.0.0.2']);
  });

  it('sees a TLS connection, too', async () => {
    expect(await send(`https://127.0.0.1:${receiver.port}/`, { allow: onlyOne, allowHttp: true })).toMatchObject({
      error: 'tls',
    });
    expect(connects.take()).toEqual(['127.0.0.1']);
  });
});

describe('no socket is opened', () => {
  it.each(hostileUrls)('by an attempt at a URL that is %s', async (_what, url) => {
    const asked: string[] = [];
    const resolve = async (host: string) => {
      asked.push(host);
      return ['169.254.169.254'];
    };
    const result = await send(url, { allow: parseCidrs(''), allowHttp: false, resolve });
    expect(result).toMatchObject({ ok: false, statusCode: null });
    expect(['blocked_address', 'internal']).toContain(result.error);
    expect(asked.filter((host) => host !== 'example.com')).toEqual([]);
    expect(connects.take()).toEqual([]);
  });

  it('to any forbidden literal, whatever the scheme and port', async () => {
    const literals = forbiddenRanges.map(({ cidr }) =>
      within(cidr).map((address) => (cidr.includes(':') ? `[${ipv6Text(address)}]` : ipv4Text(address))),
    );
    const ports = fc.constantFrom('', ':443', ':8443', `:${receiver.port}`);
    await fc.assert(
      fc.asyncProperty(fc.oneof(...literals), fc.constantFrom('http', 'https'), ports, async (host, scheme, port) => {
        fc.pre(host !== '127.0.0.1');
        const result = await send(`${scheme}://${host}${port}/`, { allow: onlyOne, allowHttp: true });
        expect(result).toMatchObject({ ok: false, error: 'blocked_address' });
        expect(connects.take()).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('when one address of a name is forbidden, at any position among the allowed ones', async () => {
    const bad = fc.oneof(
      fc.constantFrom(
        '127.0.0.2',
        '::1',
        '169.254.169.254',
        '10.0.0.1',
        '::ffff:127.0.0.1',
        '::7f00:1',
        'fe80::1%lo',
        '',
        'nonsense',
      ),
      ...forbiddenRanges.map(({ cidr }) => within(cidr).map(cidr.includes(':') ? ipv6Text : ipv4Text)),
    );
    const answers = fc
      .tuple(fc.array(fc.constant<string>('127.0.0.1'), { maxLength: 4 }), bad, fc.nat())
      .map(([good, one, at]) => {
        return good.toSpliced(at % (good.length + 1), 0, one);
      });
    await fc.assert(
      fc.asyncProperty(answers, fc.constantFrom('http', 'https'), async (answer, scheme) => {
        fc.pre(answer.some((address) => address !== '127.0.0.1' && !address.startsWith('10.255.255.')));
        const options = { allow: oneAndNetwork, allowHttp: true, resolve: async () => answer };
        const result = await send(`${scheme}://hooks.example.test:8443/`, options);
        expect(result).toMatchObject({ ok: false, error: 'blocked_address' });
        expect(connects.take()).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['no address at all', async () => [], 'dns'],
    ['a failure', () => Promise.reject(new WebhookError('dns', 'SERVFAIL')), 'dns'],
  ])('for a name that has %s', async (_what, resolve, error) => {
    const result = await send('https://hooks.example.test/', { allow: onlyOne, allowHttp: false, resolve });
    expect(result).toMatchObject({ ok: false, error });
    expect(connects.take()).toEqual([]);
  });

  it.each([
    ['plain http', 'http://hooks.example.test:8443/', false],
    ['plain http, while the operator allows it inside', 'http://hooks.example.test:8443/', true],
    ['an odd port', 'https://hooks.example.test:9443/', false],
  ])('to a public address by %s', async (_what, url, allowHttp) => {
    const resolve = async () => ['1.1.1.1'];
    expect(await send(url, { allow: oneAndNetwork, allowHttp, resolve })).toMatchObject({ error: 'blocked_address' });
    expect(connects.take()).toEqual([]);
  });

  it('to a port other than 80 and 443 of a name with a public address', async () => {
    const resolve = async () => ['127.0.0.1', '1.1.1.1'];
    const url = `https://hooks.example.test:${receiver.port}/`;
    expect(await send(url, { allow: oneAndNetwork, allowHttp: true, resolve })).toMatchObject({
      error: 'blocked_address',
    });
    expect(connects.take()).toEqual([]);
  });
});

describe('a name that changes its address', () => {
  it('is resolved once for each connection, and the connection goes to the address in that answer', async () => {
    const answers = fc.array(fc.constantFrom('127.0.0.1', '127.0.0.2', '::1', '10.0.0.1'), {
      minLength: 1,
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(answers, async (flips) => {
        const asked: string[] = [];
        const agent = createWebhookAgent({
          allow: oneAndNetwork,
          allowHttp: true,
          resolve: async (host) => {
            const address = flips[asked.length] ?? '10.0.0.1';
            asked.push(host);
            return [address];
          },
        });
        const url = `http://rebind.example.test:${receiver.port}/`;
        for (const address of flips) {
          const result = await sendWebhook(agent, { url, headers: {}, body: Buffer.from('{}'), timeoutMs: 20_000 });
          expect(result.error).toBe(address === '127.0.0.1' ? null : 'blocked_address');
        }
        await agent.destroy();
        expect(asked).toHaveLength(flips.length);
        expect(connects.take()).toEqual(flips.filter((address) => address === '127.0.0.1'));
      }),
      { numRuns: 60 },
    );
  });

  it('stays in the Host header while the connection goes to the checked address', async () => {
    const before = receiver.requests.length;
    const resolve = async () => ['127.0.0.1'];
    await send(`http://hooks.example.test:${receiver.port}/`, { allow: oneAndNetwork, allowHttp: true, resolve });
    expect(receiver.requests[before]?.headers.host).toBe(`hooks.example.test:${receiver.port}`);
  });

  it('is reached at its next address when the first one refuses', async () => {
    const second = await startReceiver(undefined, { host: '127.0.0.1' });
    const allow = parseCidrs('127.0.0.0/8, 10.255.255.0/24');
    const options = { allow, allowHttp: true, resolve: async () => ['127.0.0.9', '127.0.0.1'] };
    expect(await send(`http://hooks.example.test:${second.port}/`, options)).toMatchObject({ ok: true });
    expect(connects.take()).toEqual(['127.0.0.9', '127.0.0.1']);
    await second.stop();
  });
});

describe('the environment', () => {
  it('with a proxy is ignored', async () => {
    const proxy = await startReceiver();
    for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY']) process.env[name] = proxy.url;
    try {
      expect(await send(`http://127.0.0.1:${receiver.port}/`, { allow: onlyOne, allowHttp: true })).toMatchObject({
        ok: true,
      });
      expect(proxy.accepted()).toBe(0);
    } finally {
      for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY']) delete process.env[name];
      await proxy.stop();
    }
  });
});
