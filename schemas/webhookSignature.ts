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
 * False for a secret that begins with `whsec_` but has no canonical base64 of at least one byte after it: the libraries
 * of Standard Webhooks cannot read such a secret, so receivers could not verify its deliveries.
 */
export function isUsableSecret(secret: string): boolean {
  if (!secret.startsWith(standardPrefix)) return true;
  const encoded = secret.slice(standardPrefix.length);
  return encoded !== '' && Buffer.from(encoded, 'base64').toString('base64') === encoded;
}

function standardKey(secret: string): Buffer {
  if (!secret.startsWith(standardPrefix)) return Buffer.from(secret, 'utf8');
  return Buffer.from(secret.slice(standardPrefix.length), 'base64');
}
