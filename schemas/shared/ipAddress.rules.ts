// The address of a caller, in the one spelling that limits, allowed networks and audit entries compare.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** What proxies and sockets write: an address, in brackets or not, with a port or not. */
const written = /^(?:\[([^[\]]+)\]|([\d.]+))(?::\d{1,5})?$/;

function parse(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const [, bracketed, dotted] = written.exec(text.trim()) ?? [];
  const address = (bracketed ?? dotted ?? text).trim().replace(/%.*$/, '');
  return isIP(address) === 0 ? null : ipaddr.process(address);
}

/**
 * The address in its canonical spelling (RFC 5952; an IPv4 address inside an IPv6 address as IPv4), without port,
 * brackets and zone. Empty for text that is no address, so that all such callers count as one.
 */
export const canonicalIp = (text: string): string => parse(text)?.toString() ?? '';

/** The network of an address, which a caller who may use all of an IPv6 /64 cannot leave; empty for no address. */
function network(text: string, widths: { ipv4: number; ipv6: number }): string {
  const address = parse(text);
  if (!address) return '';
  const width = widths[address.kind()];
  const family = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return `${family.networkAddressFromCIDR(`${address}/${width}`)}/${width}`;
}

/** What limits count by: one address of IPv4, and of IPv6 the /64, because one caller can use all of it. */
export const ipKey = (address: string): string => network(address, { ipv4: 32, ipv6: 64 });

/** A /24 or /48, so that it names no single person; null for text that is no address. */
export const networkOf = (address: string): string | null => network(address, { ipv4: 24, ipv6: 48 }) || null;
