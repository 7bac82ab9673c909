// Why a captured webhook does not verify.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sampleData } from '../../../schemas/events/eventSamples.schema.js';
import { envelopeBytes } from '../../../schemas/events/events.schema.js';
import { webhookHeaders } from '../../../schemas/webhooks/headers.rules.js';
import { makeWebhookSecret } from '../../../schemas/webhooks/signature.rules.js';
import { type Capture, explain, readCapture } from '../../../sdk/kit/verify.js';

const now = new Date('2026-03-01T09:30:00.250Z');
const [secret, newSecret, other] = [makeWebhookSecret(), makeWebhookSecret(), makeWebhookSecret()];
const data = { ...sampleData('points.changed', { merchantId: 'demo', now }), changeMessage: 'Grüße </b> 1.0 ☕' };
const body = envelopeBytes({ eventId: 'e-1', merchantId: 'demo', type: 'points.changed', occurredAt: now, data });
const value = JSON.parse(body.toString());

const signed = (secrets = [secret]) =>
  webhookHeaders({ eventType: 'points.changed', eventId: 'e-1', subscriptionId: 's-1', secrets, body, now });
const without = (...names: string[]) =>
  Object.fromEntries(Object.entries(signed()).filter(([name]) => !names.includes(name)));

const causeOf = async (capture: Partial<Capture>, secrets = [secret], at = now) =>
  (await explain({ headers: signed(), body, ...capture }, secrets, at)).cause;
const text = (written: string) => ({ body: new TextEncoder().encode(written) });
const sorted = (given: unknown): unknown =>
  given && typeof given === 'object' && !Array.isArray(given)
    ? Object.fromEntries(
        Object.entries(given)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, each]) => [key, sorted(each)]),
      )
    : given;

it('a genuine and fresh webhook is genuine', async () => {
  expect(await causeOf({})).toBe('genuine');
  expect(await causeOf({ headers: without('webhook-id', 'webhook-timestamp', 'webhook-signature') })).toBe('genuine');
  expect(await causeOf({ headers: without('X-Service-Webhook-Timestamp', 'X-Service-Webhook-Signature') })).toBe(
    'genuine',
  );
});

describe('a body that was written again', () => {
  it.each([
    ['indented', JSON.stringify(value, null, 2)],
    ['as Python writes it', body.toString().replaceAll('":', '": ').replaceAll(',"', ', "')],
    [
      'escaped as PHP and Go do',
      body.toString().replaceAll('/', '\\/').replaceAll('<', '\\u003c').replaceAll('ü', '\\u00fc'),
    ],
    ['with a line end', `${body}\n`],
    ['with a byte order mark', `\uFEFF${body}`],
    ['as a string in JSON', JSON.stringify(body.toString())],
    ['with its keys in order', JSON.stringify(sorted(value))],
    ['as no JSON', 'specversion=1.0&id=e-1'],
    ['empty', ''],
  ])('%s', async (_, written) => {
    expect(await causeOf(text(written))).toBe('body-rewritten');
  });
});

describe('a secret', () => {
  it('of another subscription is the wrong one', async () => {
    expect(await causeOf({}, [other])).toBe('wrong-secret');
    expect(await causeOf({ headers: signed([newSecret, secret]) }, [other])).toBe('wrong-secret');
  });

  it.each([` ${secret}`, `"${secret}"`, secret.slice('whsec_'.length), `${secret}\n`])(
    'that was copied with a mistake is the wrong one, and the mistake is named: %j',
    async (copied) => {
      const verdict = await explain({ headers: signed(), body }, [copied], now);
      expect(verdict).toMatchObject({
        cause: 'wrong-secret',
        explanation: expect.stringContaining('copied with a mistake'),
      });
      expect(verdict.explanation).not.toContain(secret);
    },
  );

  it('from before a rotation is the old one, as long as it is live and when both are given', async () => {
    expect(await causeOf({ headers: signed([newSecret, secret]) })).toBe('old-secret');
    expect(await causeOf({ headers: signed([newSecret]) }, [secret, newSecret])).toBe('old-secret');
    expect(await causeOf({ headers: signed([newSecret, secret]) }, [newSecret])).toBe('genuine');
  });
});

it('a header that was lost is named', async () => {
  const lost = async (...names: string[]) => explain({ headers: without(...names), body }, [secret], now);
  expect(await lost('webhook-id')).toMatchObject({
    cause: 'header-lost',
    explanation: expect.stringContaining('webhook-id'),
  });
  expect(await lost('X-Service-Webhook-Timestamp')).toMatchObject({ cause: 'header-lost' });
  expect((await explain({ headers: {}, body }, [secret], now)).cause).toBe('header-lost');
});

it('a header that was changed is named', async () => {
  const headers = {
    ...signed(),
    'webhook-timestamp': '1772357401',
    'X-Service-Webhook-Signature': `sha256=${'0'.repeat(64)}`,
  };
  expect(await causeOf({ headers })).toBe('header-changed');
  expect(await causeOf({ headers: { ...without('X-Service-Webhook-Signature'), 'webhook-id': 'e-2' } })).toBe(
    'header-changed',
  );
});

it('a clock is named when the signature is genuine but its time is not', async () => {
  const at = (seconds: number) => new Date(now.getTime() + seconds * 1000);
  expect(await causeOf({}, [secret], at(301))).toBe('clock');
  expect(await causeOf({}, [secret], at(-302))).toBe('clock');
  expect(await causeOf({}, [secret], at(299))).toBe('genuine');
});

describe('a capture', () => {
  const lines = (end: string) =>
    Object.entries(signed())
      .map(([name, content]) => `${name}: ${content}${end}`)
      .join('');
  it.each([
    ['as on the wire', `POST /hook HTTP/1.1\r\nHost: a\r\n${lines('\r\n')}\r\n${body}`],
    ['without a request line, with bare line ends', `${lines('\n')}\n${body}`],
    ['as JSON', JSON.stringify({ headers: signed(), body: body.toString() })],
    [
      'as JSON with lists',
      JSON.stringify({
        headers: Object.entries(signed()).map(([name, content]) => ({ name, value: content })),
        rawBody: body.toString(),
      }),
    ],
  ])('is read %s', async (_, written) => {
    const capture = readCapture(Buffer.from(written));
    expect(Buffer.from(capture.body).toString()).toBe(body.toString());
    expect((await explain(capture, [secret], now)).cause).toBe('genuine');
  });

  it('keeps the bytes of its body, whatever they are', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const capture = readCapture(Buffer.concat([Buffer.from('webhook-id: e\n\n'), bytes]));
        expect(Buffer.from(capture.body).equals(Buffer.from(bytes))).toBe(true);
      }),
    );
  });

  it('that is no request is refused', () => {
    expect(() => readCapture(Buffer.from('hello'))).toThrow('No request');
  });
});
