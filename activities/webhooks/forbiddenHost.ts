// What can be said of a URL's host before anything is sent to it. The connector asks the same again at every connect.
import { isIP } from 'node:net';
import { forbiddenReason } from '../../schemas/addresses.js';
import { bareHost, isLocalhost, type WebhookUrlRules } from '../../schemas/webhookUrl.js';
import { resolveHost } from './resolveHost.js';

/** A sentence for the caller when the host is, or resolves to, a forbidden address; null otherwise, also when it does not resolve. */
export async function forbiddenHost(url: URL, { allow }: WebhookUrlRules): Promise<string | null> {
  const host = bareHost(url);
  if (isIP(host) !== 0 || isLocalhost(host)) return null;
  const addresses = await resolveHost(host).catch(() => []);
  return addresses.some((address) => forbiddenReason(address, allow) !== null)
    ? 'The host is a forbidden address.'
    : null;
}
