// Both signatures of a webhook cover exactly the bytes that are sent (docs/interface.md#63-signatures). They derive
// different keys from the same secret: the service's own signature uses the whole string, Standard Webhooks uses the
// decoded base64 after `whsec_`.
import { createHmac, randomBytes } from 'node:crypto';

const standardPrefix = 'whsec_';

/**
 * The value of `X-Service-Webhook-Signature`: `sha256=` and the lower-case hex of the HMAC over timestamp, dot, body.
 */
export function signService(secret: string, timestampIso: string, body: Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestampIso}.`).update(body).digest('hex')}`;
}

/** The value of `webhook-signature`: one `v1,<base64>` for each valid secret, so that a rotation breaks no receiver. */
export function signStandard(secrets: readonly string[], id: string, unixSeconds: number, body: Uint8Array): string {
  return secrets
    .map((secret) => {
      const hmac = createHmac('sha256', standardKey(secret));
      return `v1,${hmac.update(`${id}.${unixSeconds}.`).update(body).digest('base64')}`;
    })
    .join(' ');
}

export function makeWebhookSecret(): string {
  return `${standardPrefix}${randomBytes(32).toString('base64')}`;
}

/**
 * Why receivers could not verify with this secret although it looks like one of Standard Webhooks; undefined for a
 * usable secret. The libraries of Standard Webhooks read `whsec_` and canonical base64 of at least one byte, and
 * nothing else.
 */
export function secretMistake(secret: string): string | undefined {
  if (/^["'`]|["'`]$/.test(secret)) return 'must not stand in quotation marks';
  if (/^v\d+a?,/i.test(secret)) return 'is a signature: a secret has no v1, before it';
  if (/^wh[sp]k[_-]/i.test(secret)) return 'is a key of asymmetric signatures, which this service does not make';
  if (!/^wh[_-]?sec[_-]/i.test(secret)) return undefined;
  if (!secret.startsWith(standardPrefix)) return `must begin with ${standardPrefix} exactly`;
  const encoded = secret.slice(standardPrefix.length);
  const isBase64 = encoded !== '' && Buffer.from(encoded, 'base64').toString('base64') === encoded;
  return isBase64 ? undefined : `must be valid base64 behind ${standardPrefix}`;
}

function standardKey(secret: string): Buffer {
  if (!secret.startsWith(standardPrefix)) return Buffer.from(secret, 'utf8');
  return Buffer.from(secret.slice(standardPrefix.length), 'base64');
}
