// Checks the URL of a subscription. The WHATWG parser parses the URL once, and every check uses the result, in which
// decimal, hex, octal, short and full-width forms of an address are plain addresses. Checks that need name resolution
// are left to the connector (activities/webhooks/guardedAgent.client.ts), which repeats the checks at each connect.
import { isIP } from 'node:net';
import { type AllowList, forbiddenReason, isInside } from '../shared/addresses.rules.js';

export interface WebhookUrlRules {
  allowHttp: boolean;
  allow: AllowList;
}

export type CheckedUrl =
  | {
      ok: true;
      url: URL;
      /** The stored URL: its host is the one that is contacted, in ASCII. */
      shown: string;
    }
  | { ok: false; reason: string };

const maxLength = 2048;
const publicPorts = new Set(['', '443', '8443']);

/** `reason` is a sentence for the caller. The host of an accepted `url` has no trailing dot. */
export function checkWebhookUrl(text: string, rules: WebhookUrlRules): CheckedUrl {
  const url = parse(text);
  if (url === null) return refuse('The URL cannot be parsed.');
  if (text.length > maxLength || url.href.length > maxLength) {
    return refuse(`The URL is longer than ${maxLength} characters.`);
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refuse('The URL must use https.');
  if (url.username !== '' || url.password !== '') return refuse('The URL must not hold a user name or password.');
  if (url.href.includes('#')) return refuse('The URL must not hold a fragment.');

  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  const host = bareHost(url);
  const reason =
    hostRefusal(host, rules.allow) ?? transportRefusal(url, rules.allowHttp, mayBeInside(host, rules.allow));
  return reason === null ? { ok: true, url, shown: shownUrl(text, url) } : refuse(reason);
}

/** The parsed URL, without the slash that the parser adds behind a host. */
const shownUrl = (text: string, { href }: URL): string => (href === `${text}/` ? text : href);

/** Plain http, and ports other than 443 and 8443, are allowed only for addresses in the operator's allow list. */
export function transportRefusal(
  { protocol, port }: Pick<URL, 'protocol' | 'port'>,
  allowHttp: boolean,
  inside: boolean,
): string | null {
  if (protocol === 'http:' && !(allowHttp && inside)) return 'The URL must use https.';
  return inside || publicPorts.has(port) ? null : 'The port must be 443 or 8443.';
}

/** The host as resolvers and sockets expect it: IPv6 without brackets. */
export function bareHost(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
}

/** RFC 6761: these names are loopback regardless of the resolver. */
export function isLocalhost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost');
}

function parse(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

function refuse(reason: string): CheckedUrl {
  return { ok: false, reason };
}

function hostRefusal(host: string, allow: AllowList): string | null {
  if (isIP(host) !== 0) {
    return forbiddenReason(host, allow) === null ? null : 'The address is not a public one.';
  }
  const labels = host.split('.');
  if (labels.some((label) => label === '')) return 'The host name has an empty label.';
  const notPublic = 'The host name is not a public one.';
  if (isLocalhost(host)) return allow.opensLoopback ? null : notPublic;
  // A name of an internal network is accepted only when the operator allowed such a network; its addresses are still
  // checked at each connect.
  const inner = labels.length === 1 || host.endsWith('.local') || host.endsWith('.internal');
  return inner && !allow.opensNetwork ? notPublic : null;
}

/** Exact for an address. For a name: whether the operator allowed any range that the name could resolve to. */
function mayBeInside(host: string, allow: AllowList): boolean {
  if (isIP(host) !== 0) return isInside(allow, host);
  return isLocalhost(host) ? allow.opensLoopback : allow.opensNetwork;
}
