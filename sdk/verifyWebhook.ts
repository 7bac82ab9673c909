// Checks that a webhook comes from the service and is fresh (docs/interface.md#63-signatures).
import type { LoyaltyEvent } from './client.js';

const reasons = {
  'no-secret': 'no secret was given',
  'secret-malformed': 'a secret that begins with whsec_ goes on with base64',
  'body-parsed': 'the raw body is needed, as text or bytes: a body that was parsed has lost the bytes that are signed',
  'header-missing': 'the headers of a signature are missing',
  'timestamp-malformed': 'the timestamp cannot be read',
  'timestamp-too-old': 'the timestamp is too old: a repeated capture, or a clock that is wrong',
  'timestamp-too-new': 'the timestamp is in the future: a clock is wrong',
  'signature-mismatch': 'the signature is of another secret or of another body',
  'body-malformed': 'the body is no JSON',
} as const;

export type WebhookRefusal = keyof typeof reasons;

export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  constructor(
    readonly reason: WebhookRefusal,
    detail = '',
  ) {
    super(`${reasons[reason]}${detail}`);
  }
}

export type WebhookHeaders = Headers | Record<string, string | readonly string[] | undefined>;
export type RawBody = string | Uint8Array | ArrayBuffer;

export interface VerifyOptions {
  /** How far the timestamp may be from the clock (300). */
  toleranceSeconds?: number;
  now?: Date;
}

/** Reads a header whatever the case of its name; undefined when it is absent. */
export function headerIn(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1];
  return (typeof value === 'string' ? value : value?.join(', ')) || undefined;
}

export const serviceHeaders = ['X-Service-Webhook-Timestamp', 'X-Service-Webhook-Signature'] as const;
export const standardHeaders = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

interface Signed {
  /** What is signed before the body. */
  prefix: string;
  at: number;
  signatures: string[];
  keyOf: (secret: string) => Uint8Array;
}

const text = new TextEncoder();
const bytesOf = (latin1: string) => Uint8Array.from(latin1, (character) => character.charCodeAt(0));

export function standardKey(secret: string): Uint8Array {
  if (!secret.startsWith('whsec_')) return text.encode(secret);
  const encoded = secret.slice('whsec_'.length);
  try {
    const decoded = atob(encoded);
    // Standard libraries read nothing but base64 in its one form.
    if (btoa(decoded) === encoded) return bytesOf(decoded);
  } catch {}
  throw new WebhookVerificationError('secret-malformed');
}

export function standardSignature(headers: WebhookHeaders): Signed | undefined {
  const [id, timestamp, signature] = standardHeaders.map((name) => headerIn(headers, name));
  if (!id || !timestamp || !signature) return undefined;
  const entries = signature.split(' ').flatMap((entry) => /^v1,([A-Za-z0-9+/]{43}=)$/.exec(entry)?.[1] ?? []);
  const at = /^\d+$/.test(timestamp) ? Number(timestamp) * 1000 : Number.NaN;
  return { prefix: `${id}.${timestamp}.`, at, signatures: entries.map(atob), keyOf: standardKey };
}

export function serviceSignature(headers: WebhookHeaders): Signed | undefined {
  const [timestamp, signature] = serviceHeaders.map((name) => headerIn(headers, name));
  if (!timestamp || !signature) return undefined;
  const hex = /^sha256=((?:[0-9a-f]{2}){32})$/.exec(signature)?.[1]?.match(/../g) ?? [];
  const signatures = hex.length > 0 ? [String.fromCharCode(...hex.map((pair) => Number.parseInt(pair, 16)))] : [];
  return { prefix: `${timestamp}.`, at: Date.parse(timestamp), signatures, keyOf: (secret) => text.encode(secret) };
}

/** Which of the signatures the secret made: their positions. Compares in constant time. */
export async function signaturesMade(by: string, { prefix, signatures, keyOf }: Signed, body: Uint8Array) {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const bytes = keyOf(by);
  if (bytes.length === 0) return [];
  const key = await crypto.subtle.importKey('raw', new Uint8Array(bytes), algorithm, false, ['verify']);
  const start = text.encode(prefix);
  const signed = new Uint8Array(start.length + body.length);
  signed.set(start);
  signed.set(body, start.length);
  const made = signatures.map((signature) => crypto.subtle.verify('HMAC', key, bytesOf(signature), signed));
  return (await Promise.all(made)).flatMap((isMade, position) => (isMade ? [position] : []));
}

function bodyBytes(body: RawBody): Uint8Array {
  if (typeof body === 'string') return text.encode(body);
  if (body instanceof Uint8Array) return body;
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  throw new WebhookVerificationError('body-parsed');
}

/**
 * The event of a genuine webhook. Give both secrets while one is rotated. Of the two signatures that a webhook carries,
 * `webhook-signature` is checked where it is there. Throws WebhookVerificationError with the reason.
 */
export async function verifyWebhook(
  headers: WebhookHeaders,
  rawBody: RawBody,
  secret: string | readonly string[],
  { toleranceSeconds = 300, now = new Date() }: VerifyOptions = {},
): Promise<LoyaltyEvent> {
  const secrets = [secret].flat().filter((one) => one);
  if (secrets.length === 0) throw new WebhookVerificationError('no-secret');
  const body = bodyBytes(rawBody);
  const signed = standardSignature(headers) ?? serviceSignature(headers);
  if (!signed) throw new WebhookVerificationError('header-missing', `: ${standardHeaders.join(', ')}`);
  if (Number.isNaN(signed.at)) throw new WebhookVerificationError('timestamp-malformed');
  const made = await Promise.all(secrets.map((one) => signaturesMade(one, signed, body)));
  if (made.flat().length === 0) throw new WebhookVerificationError('signature-mismatch');
  const ageSeconds = (now.getTime() - signed.at) / 1000;
  if (ageSeconds > toleranceSeconds) throw new WebhookVerificationError('timestamp-too-old');
  if (-ageSeconds > toleranceSeconds) throw new WebhookVerificationError('timestamp-too-new');
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    throw new WebhookVerificationError('body-malformed');
  }
}
