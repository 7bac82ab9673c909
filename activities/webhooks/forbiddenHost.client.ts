// Checks the host of a URL when the URL is stored. The connector (guardedAgent.client.ts) repeats the check at every
// connect.
import { isIP } from 'node:net';
import { forbiddenReason } from '../../schemas/shared/addresses.rules.js';
import { bareHost, isLocalhost, type WebhookUrlRules } from '../../schemas/webhooks/url.rules.js';
import { resolveHost } from './resolveHost.client.js';

/**
 * Returns a message for the caller when the host name resolves to a forbidden address. Returns null otherwise, also
 * when the name does not resolve, and for IP literals and localhost, which checkWebhookUrl has checked before.
 */
export async function forbiddenHost(url: URL, { allow }: WebhookUrlRules): Promise<string | null> {
  const host = bareHost(url);
  if (isIP(host) !== 0 || isLocalhost(host)) return null;
  const addresses = await resolveHost(host).catch(() => []);
  return addresses.some((address) => forbiddenReason(address, allow) !== null)
    ? 'The host is a forbidden address.'
    : null;
}
