// The addresses that a webhook must never reach. For IPv4 the list names what is forbidden. For IPv6 only 2000::/3
// without its exceptions is allowed, because every way of hiding an IPv4 address in an IPv6 address lies outside
// 2000::/3 or in an exception.
import { BlockList, isIP } from 'node:net';

interface Ranges {
  v4: BlockList;
  v6: BlockList;
}

/** The operator's exceptions (`WEBHOOK_ALLOW_CIDRS`): none by default, logged at start. */
export interface AllowList {
  cidrs: readonly string[];
  ranges: Ranges;
  /** True when it contains 127.0.0.1 or ::1. */
  opensLoopback: boolean;
  /** True when it contains an address that is not loopback. */
  opensNetwork: boolean;
}

export interface ForbiddenRange {
  cidr: string;
  reason: string;
}

/** The first range that contains an address gives the reason, so narrow ranges come first. */
export const forbiddenRanges: readonly ForbiddenRange[] = [
  { cidr: '169.254.169.254/32', reason: 'cloud metadata (AWS, Azure, Google, and others)' },
  { cidr: '168.63.129.16/32', reason: 'cloud platform (Azure), inside a public range' },
  { cidr: '100.100.100.200/32', reason: 'cloud metadata (Alibaba)' },
  { cidr: '192.0.0.192/32', reason: 'cloud metadata (Oracle)' },
  { cidr: 'fd00:ec2::254/128', reason: 'cloud metadata (AWS)' },
  { cidr: 'fd20:ce::254/128', reason: 'cloud metadata (Google)' },

  { cidr: '0.0.0.0/8', reason: 'this network' },
  { cidr: '10.0.0.0/8', reason: 'private use' },
  { cidr: '100.64.0.0/10', reason: 'shared address space (carrier-grade NAT)' },
  { cidr: '127.0.0.0/8', reason: 'loopback' },
  { cidr: '169.254.0.0/16', reason: 'link-local' },
  { cidr: '172.16.0.0/12', reason: 'private use' },
  { cidr: '192.0.0.0/24', reason: 'IETF protocol assignments' },
  { cidr: '192.0.2.0/24', reason: 'documentation' },
  { cidr: '192.88.99.0/24', reason: '6to4 relay' },
  { cidr: '192.168.0.0/16', reason: 'private use' },
  { cidr: '198.18.0.0/15', reason: 'benchmarking' },
  { cidr: '198.51.100.0/24', reason: 'documentation' },
  { cidr: '203.0.113.0/24', reason: 'documentation' },
  { cidr: '224.0.0.0/4', reason: 'multicast' },
  { cidr: '255.255.255.255/32', reason: 'broadcast' },
  { cidr: '240.0.0.0/4', reason: 'reserved' },

  { cidr: '2001::/23', reason: 'IETF protocol assignments (Teredo among them)' },
  { cidr: '2001:db8::/32', reason: 'documentation' },
  { cidr: '2002::/16', reason: '6to4, holds an IPv4 address' },
  { cidr: '3fff::/20', reason: 'documentation' },

  { cidr: '::1/128', reason: 'loopback' },
  { cidr: '::ffff:0:0/96', reason: 'IPv4-mapped' },
  { cidr: '64:ff9b::/96', reason: 'NAT64, holds an IPv4 address' },
  { cidr: '64:ff9b:1::/48', reason: 'NAT64 for local use' },
  { cidr: '100::/64', reason: 'discard only' },
  { cidr: '5f00::/16', reason: 'segment routing' },
  { cidr: 'fc00::/7', reason: 'unique local' },
  { cidr: 'fe80::/10', reason: 'link-local' },
  { cidr: 'fec0::/10', reason: 'site-local' },
  { cidr: 'ff00::/8', reason: 'multicast' },
  { cidr: '::/3', reason: 'not global unicast' },
  { cidr: '4000::/2', reason: 'not global unicast' },
  { cidr: '8000::/1', reason: 'not global unicast' },
];

const rangesWithReason = forbiddenRanges.map(({ cidr, reason }) => ({ ranges: toRanges([cidr]), reason }));
const forbidden = toRanges(forbiddenRanges.map(({ cidr }) => cidr));
const loopback = toRanges(['127.0.0.0/8', '::1/128']);
const nat64 = toRanges(['64:ff9b::/96']);

/**
 * Parses addresses and CIDRs that are separated by commas or white space. Throws a RangeError that names every wrong
 * entry.
 */
export function parseCidrs(text: string): AllowList {
  const cidrs = text.split(/[\s,]+/).filter((entry) => entry !== '');
  const wrong = cidrs.filter((entry) => parseCidr(entry) === null);
  if (wrong.length > 0) throw new RangeError(`Not an address or CIDR: ${wrong.join(', ')}`);
  const ranges = toRanges(cidrs);
  return {
    cidrs,
    ranges,
    opensLoopback: contains(ranges, '127.0.0.1') || contains(ranges, '::1'),
    opensNetwork: cidrs.some((entry) => !isLoopbackCidr(entry)),
  };
}

/** Whether the URL is `https:`, or `http:` on loopback. */
export const isSecureOrLocal = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && /^(?:localhost|\[::1\]|127\.\d+\.\d+\.\d+)$/.test(hostname));

/** Whether it is one address or one CIDR. */
export const isCidr = (entry: string): boolean => parseCidr(entry) !== null;

export function isInside(allow: AllowList, ip: string): boolean {
  return contains(allow.ranges, ip);
}

/**
 * Why a connection to `ip` is forbidden, for operators; null when it is allowed. Text that is not a plain IP address is
 * always forbidden.
 */
export function forbiddenReason(ip: string, allow: AllowList): string | null {
  if (isIP(ip) === 0 || ip.includes('%')) return 'not an IP address';
  if (isInside(allow, ip)) return contains(nat64, ip) ? forbiddenReason(embeddedIpv4(ip), allow) : null;
  if (!contains(forbidden, ip)) return null;
  return rangesWithReason.find(({ ranges }) => contains(ranges, ip))?.reason ?? 'forbidden';
}

/**
 * Each address family has its own BlockList: with one list for both, an IPv6 range can match IPv4 addresses, and the
 * reverse.
 */
function toRanges(cidrs: readonly string[]): Ranges {
  const ranges = { v4: new BlockList(), v6: new BlockList() };
  for (const entry of cidrs) {
    const cidr = parseCidr(entry);
    if (cidr?.family === 4) ranges.v4.addSubnet(cidr.address, cidr.prefix, 'ipv4');
    if (cidr?.family === 6) ranges.v6.addSubnet(cidr.address, cidr.prefix, 'ipv6');
  }
  return ranges;
}

function contains(ranges: Ranges, ip: string): boolean {
  const family = isIP(ip);
  if (family === 4) return ranges.v4.check(ip, 'ipv4');
  return family === 6 && ranges.v6.check(ip, 'ipv6');
}

function parseCidr(entry: string): { address: string; prefix: number; family: 4 | 6 } | null {
  const [address = '', prefixText, ...rest] = entry.split('/');
  const family = isIP(address);
  if ((family !== 4 && family !== 6) || address.includes('%') || rest.length > 0) return null;
  const widest = family === 4 ? 32 : 128;
  if (prefixText === undefined) return { address, prefix: widest, family };
  const prefix = Number(prefixText);
  return /^\d{1,3}$/.test(prefixText) && prefix <= widest ? { address, prefix, family } : null;
}

function isLoopbackCidr(entry: string): boolean {
  const cidr = parseCidr(entry);
  return cidr !== null && contains(loopback, cidr.address) && cidr.prefix >= (cidr.family === 4 ? 8 : 128);
}

/**
 * The last 32 bits of an IPv6 address as an IPv4 address. The WHATWG serializer writes them as one or two hex groups.
 */
function embeddedIpv4(ip: string): string {
  const groups = new URL(`http://[${ip}]`).hostname.slice(1, -1).split(':');
  const [high = 0, low = 0] = groups.slice(-2).map((group) => Number.parseInt(group || '0', 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
