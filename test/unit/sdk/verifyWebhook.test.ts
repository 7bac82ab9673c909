// Webhooks as the service signs them, and what may be wrong with them.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { webhookHeaders } from '../../../schemas/webhooks/headers.rules.js';
import { makeWebhookSecret } from '../../../schemas/webhooks/signature.rules.js';
import { verifyWebhook, WebhookVerificationError } from '../../../sdk/index.js';
import type { RawBody, VerifyOptions, WebhookHeaders } from '../../../sdk/verifyWebhook.js';

const secret = makeWebhookSecret();
const other = makeWebhookSecret();
const now = new Date('2026-03-01T09:30:00.750Z');
const event = { event: 'points.changed', eventId: 'e-1', data: { delta: 10, changeMessage: 'Grüße ☕' } };
const body = Buffer.from(JSON.stringify(event));
const standard = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

const signed = (secrets: readonly string[] = [secret], of: Uint8Array = body) =>
  webhookHeaders({ eventType: 'points.changed', eventId: 'e-1', subscriptionId: 's-1', secrets, body: of, now });
const without = (headers: Record<string, string>, names: readonly string[]) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));

async function reasonOf(
  headers: WebhookHeaders,
  raw: RawBody = body,
  by: string | string[] = secret,
  options: VerifyOptions = { now },
): Promise<string> {
  const error = await verifyWebhook(headers, raw, by, options).then(
    () => 'none',
    (thrown: unknown) => thrown,
  );
  return error instanceof WebhookVerificationError ? error.reason : String(error);
}

describe('a genuine webhook', () => {
  it.each([
    ['with both signatures', signed()],
    ['with that of Standard Webhooks alone', without(signed(), ['X-Service-Webhook-Signature'])],
    ['with that of the service alone', without(signed(), standard)],
    ['with that of the service and a part of the other', without(signed(), ['webhook-id'])],
    ['with names in lower case', Object.fromEntries(Object.entries(signed()).map(([k, v]) => [k.toLowerCase(), v]))],
    ['with lists of values', Object.fromEntries(Object.entries(signed()).map(([k, v]) => [k, [v]]))],
    ['with Headers', new Headers(signed())],
  ])('is its event, %s', async (_, headers) => {
    expect(await verifyWebhook(headers, body, secret, { now })).toEqual(event);
  });

  it.each([
    ['text', body.toString('utf8')],
    ['bytes', new Uint8Array(body)],
    ['a buffer', Uint8Array.from(body).buffer],
  ])('may come as %s', async (_, raw) => {
    expect(await verifyWebhook(signed(), raw, secret, { now })).toEqual(event);
  });

  it('verifies with the old and the new secret while one is rotated, and with a list that has either', async () => {
    const rotating = signed([other, secret]);
    expect(await reasonOf(rotating)).toBe('none');
    expect(await reasonOf(rotating, body, other)).toBe('none');
    expect(await reasonOf(signed(), body, [other, secret])).toBe('none');
  });

  it('verifies whatever the secret and the body are', async () => {
    const plain = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !text.startsWith('whsec_'));
    const coded = fc.uint8Array({ minLength: 1 }).map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`);
    const either = fc.constantFrom([], standard);
    await fc.assert(
      fc.asyncProperty(fc.oneof(plain, coded), fc.json(), either, async (by, text, lost) => {
        const raw = Buffer.from(text);
        const headers = without(signed([by], raw), lost);
        expect(await verifyWebhook(headers, raw, by, { now })).toEqual(JSON.parse(text));
        expect(await reasonOf(headers, Buffer.from(`${text} `), by)).toBe('signature-mismatch');
      }),
    );
  });
});

describe('a webhook is refused by its reason', () => {
  it.each([
    ['another secret', 'signature-mismatch', () => reasonOf(signed([other]))],
    ['another body', 'signature-mismatch', () => reasonOf(signed(), `${body} `)],
    ['another id', 'signature-mismatch', () => reasonOf({ ...signed(), 'webhook-id': 'e-2' })],
    ['no entry that can be read', 'signature-mismatch', () => reasonOf({ ...signed(), 'webhook-signature': 'v1a,x' })],
    ['no headers', 'header-missing', () => reasonOf({})],
    ['an unsigned request', 'header-missing', () => reasonOf(signed([]))],
    ['a body that was parsed', 'body-parsed', () => reasonOf(signed(), event as unknown as RawBody)],
    ['no secret', 'no-secret', () => reasonOf(signed(), body, '')],
    ['no secrets', 'no-secret', () => reasonOf(signed(), body, [])],
    ['a secret that is cut', 'secret-malformed', () => reasonOf(signed(), body, secret.slice(0, -2))],
    ['no timestamp', 'timestamp-malformed', () => reasonOf({ ...signed(), 'webhook-timestamp': 'today' })],
  ])('%s', async (_, reason, make) => {
    expect(await make()).toBe(reason);
  });

  it('by the time that the receiver allows', async () => {
    const aged = (seconds: number, toleranceSeconds?: number) =>
      reasonOf(signed(), body, secret, {
        now: new Date(now.getTime() + seconds * 1000),
        ...(toleranceSeconds !== undefined && { toleranceSeconds }),
      });
    expect(await Promise.all([aged(299), aged(301), aged(-299), aged(-301)])).toEqual([
      'none',
      'timestamp-too-old',
      'none',
      'timestamp-too-new',
    ]);
    expect(await Promise.all([aged(59, 60), aged(61, 60), aged(100_000, Infinity)])).toEqual([
      'none',
      'timestamp-too-old',
      'none',
    ]);
  });

  it('a stale timestamp is named only where the signature is genuine', async () => {
    expect(await reasonOf(signed([other]), body, secret, { now: new Date(0) })).toBe('signature-mismatch');
  });
});
