// Which webhook URLs are accepted, before a name is resolved.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { forbiddenRanges, parseCidrs } from '../../../schemas/shared/addresses.rules.js';
import { checkWebhookUrl, type WebhookUrlRules } from '../../../schemas/webhooks/url.rules.js';
import { ipv4Text, ipv6Text, within } from '../../rig/checks/cidrs.js';
import { hostileUrls } from '../../rig/standins/hostileUrls.js';

const closed: WebhookUrlRules = { allowHttp: false, allow: parseCidrs('') };
const demo: WebhookUrlRules = { allowHttp: true, allow: parseCidrs('127.0.0.0/8,::1/128') };
const network: WebhookUrlRules = { allowHttp: true, allow: parseCidrs('10.0.0.0/8') };

const isAccepted = (url: string, rules: WebhookUrlRules) => checkWebhookUrl(url, rules).ok;

describe('a webhook URL', () => {
  it.each(hostileUrls)('that is %s is refused with a sentence (%s)', (_what, url) => {
    const checked = checkWebhookUrl(url, closed);
    expect(checked).toMatchObject({ ok: false, reason: expect.stringMatching(/^The .+\.$/) });
  });

  it.each([
    'https://example.com',
    'https://example.com/hook?a=1&b=@:2',
    'https://EXAMPLE.com:443/',
    'https://example.com:8443/hook',
    'https://hooks.local.example.com/',
    'https://internal.example.com/',
    'https://localhost.example.com/',
    'https://1.1.1.1/hook',
    'https://[2606:4700::1111]:8443/hook',
    'https://xn--r8jz45g.jp/',
    `https://example.com/${'a'.repeat(2028)}`,
  ])('to the public internet is accepted: %s', (url) => {
    expect(isAccepted(url, closed)).toBe(true);
  });

  it('is stored without the trailing dot of its host', () => {
    const checked = checkWebhookUrl('https://example.com.:8443/hook', closed);
    expect(checked.ok && checked.url.href).toBe('https://example.com:8443/hook');
  });

  it.each([
    ['https://example.com', 'https://example.com'],
    ['https://example.com/hook?a=1', 'https://example.com/hook?a=1'],
    ['https://EXAMPLE.com:443/hook', 'https://example.com/hook'],
    ['https://exаmple.com/hook', 'https://xn--exmple-4nf.com/hook'],
    ['https://bücher.example/hook', 'https://xn--bcher-kva.example/hook'],
    ['https://example。com/hook', 'https://example.com/hook'],
    ['https://ｅｘａｍｐｌｅ.com/hook', 'https://example.com/hook'],
    ['https://evil.com\\@example.com/hook', 'https://evil.com/@example.com/hook'],
    ['https:evil.com\\.example.com', 'https://evil.com/.example.com'],
    ['https:///evil.com/hook', 'https://evil.com/hook'],
    ['https://1.1/hook', 'https://1.0.0.1/hook'],
    ['https://0x01010101/hook', 'https://1.1.1.1/hook'],
    ['https://evil.com?@example.com/', 'https://evil.com/?@example.com/'],
  ])('%s is shown as %s, with the host that is contacted', (given, wanted) => {
    const checked = checkWebhookUrl(given, closed);
    expect(checked.ok && checked.shown).toBe(wanted);
    expect(checked.ok && new URL(checked.shown).host).toBe(checked.ok && checked.url.host);
  });

  it('of any text is shown with the host that is contacted, as plain text', () => {
    const hosts = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }),
      fc.domain(),
      fc.webAuthority(),
    );
    fc.assert(
      fc.property(hosts, fc.string({ maxLength: 10 }), (host, rest) => {
        const checked = checkWebhookUrl(`https://${host}${rest}`, closed);
        if (!checked.ok) return;
        const [, shownHost] = /^https:\/\/([^/?#@\\\s\u0080-\uffff]+)(?:\/|$)/.exec(checked.shown) ?? [];
        expect(shownHost).toBe(checked.url.host);
      }),
    );
  });

  it('may have up to 2048 characters, as written and as parsed', () => {
    const longest = `https://example.com/${'a'.repeat(2028)}`;
    expect(longest).toHaveLength(2048);
    expect(isAccepted(longest, closed)).toBe(true);
    expect(isAccepted(`${longest}a`, closed)).toBe(false);
    expect(isAccepted(`https://example.com/${'ä'.repeat(1000)}`, closed)).toBe(false);
  });

  it('is refused for every forbidden address, in the plain, the decimal and the hex form', () => {
    const v4 = forbiddenRanges.filter(({ cidr }) => !cidr.includes(':')).map(({ cidr }) => within(cidr));
    fc.assert(
      fc.property(fc.oneof(...v4), (address) => {
        for (const host of [ipv4Text(address), String(address), `0x${address.toString(16)}`]) {
          expect(isAccepted(`https://${host}/`, closed), host).toBe(false);
        }
      }),
    );
    const v6 = forbiddenRanges.filter(({ cidr }) => cidr.includes(':')).map(({ cidr }) => within(cidr));
    fc.assert(
      fc.property(fc.oneof(...v6), (address) => {
        expect(isAccepted(`https://[${ipv6Text(address)}]/`, closed)).toBe(false);
      }),
    );
  });

  it('never makes the check throw, for any text', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.webUrl(),
      fc.string().map((text) => `https://${text}`),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(typeof checkWebhookUrl(text, demo).ok).toBe('boolean');
      }),
    );
  });
});

describe('with only loopback in the allow list, as in the demo,', () => {
  it.each([
    'http://127.0.0.1:9000/hook',
    'http://127.0.0.1/hook',
    'https://127.0.0.1:1/hook',
    'http://[::1]:9000/hook',
    'http://localhost:9000/hook',
    'http://localhost.:9000/hook',
    'https://hooks.localhost:9000/hook',
    'https://example.com/hook',
  ])('%s is accepted', (url) => {
    expect(isAccepted(url, demo)).toBe(true);
  });

  it.each([
    'http://example.com/hook',
    'http://1.1.1.1/hook',
    'https://example.com:9000/hook',
    'https://1.1.1.1:9000/hook',
    'http://10.0.0.1:9000/hook',
    'https://192.168.1.1/hook',
    'http://169.254.169.254/latest/meta-data',
    'http://[::ffff:127.0.0.1]:9000/hook',
    'http://0.0.0.0:9000/hook',
    'http://receiver:9000/hook',
    'https://printer.local/hook',
    'http://user:password@127.0.0.1:9000/hook',
    'ftp://127.0.0.1/hook',
  ])('%s is refused', (url) => {
    expect(isAccepted(url, demo)).toBe(false);
  });

  it('http is refused while WEBHOOK_ALLOW_HTTP is off', () => {
    expect(isAccepted('http://127.0.0.1:9000/', { ...demo, allowHttp: false })).toBe(false);
    expect(isAccepted('https://127.0.0.1:9000/', { ...demo, allowHttp: false })).toBe(true);
  });
});

describe('with a network in the allow list', () => {
  it.each([
    'https://10.1.2.3:9000/hook',
    'http://10.1.2.3/hook',
    'http://receiver:9000/hook',
    'http://orders.svc.cluster.local:9000/hook',
    'https://hooks.internal/hook',
    'https://example.com:9000/hook',
  ])('%s is accepted; names are checked by their addresses at connect', (url) => {
    expect(isAccepted(url, network)).toBe(true);
  });

  it.each([
    'https://127.0.0.1/',
    'https://localhost/',
    'https://192.168.1.1/',
    'https://1.1.1.1:9000/',
    'http://1.1.1.1/',
  ])('%s is refused', (url) => {
    expect(isAccepted(url, network)).toBe(false);
  });
});
