// Which addresses webhooks may reach: the forbidden ranges, and the operator's allow list.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AllowList,
  forbiddenRanges,
  forbiddenReason,
  parseCidrs,
} from '../../../schemas/shared/addresses.rules.js';
import { anyIpv4, anyIpv6, holds, ipv4Text, ipv6Text, within } from '../../rig/checks/cidrs.js';

const nothing = parseCidrs('');
const isForbiddenAddress = (ip: string, allow: AllowList): boolean => forbiddenReason(ip, allow) !== null;
const v4Ranges = forbiddenRanges.map(({ cidr }) => cidr).filter((cidr) => !cidr.includes(':'));
const v6Exceptions = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

describe('forbidden addresses', () => {
  it.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '10.255.255.255',
    '100.64.0.1',
    '100.127.255.255',
    '127.0.0.1',
    '127.255.255.255',
    '169.254.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.7',
    '203.0.113.7',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::a9fe:a9fe',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:8.8.8.8',
    '::ffff:0:127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::808:808',
    '64:ff9b:1::1',
    '100::1',
    '100:0:0:1::1',
    '2001::1',
    '2001:1ff::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    '3fff:fff::1',
    '4000::1',
    '5f00::1',
    'fc00::1',
    'fdff::1',
    'fe80::1',
    'febf::1',
    'fec0::1',
    'ff02::1',
    'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  ])('%s is forbidden', (ip) => {
    expect(isForbiddenAddress(ip, nothing)).toBe(true);
  });

  it.each([
    ['169.254.169.254', /metadata/],
    ['168.63.129.16', /Azure/],
    ['100.100.100.200', /Alibaba/],
    ['192.0.0.192', /Oracle/],
    ['fd00:ec2::254', /AWS/],
    ['fd20:ce::254', /Google/],
    ['10.1.2.3', /private/],
    ['fe80::1', /link-local/],
    ['4000::1', /not global unicast/],
  ])('%s is refused with its own reason', (ip, reason) => {
    expect(forbiddenReason(ip, nothing)).toMatch(reason);
  });

  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '168.63.129.15',
    '169.253.255.255',
    '169.255.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.0',
    '192.0.3.0',
    '192.167.255.255',
    '192.169.0.0',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2000::1',
    '2001:200::1',
    '2001:4860:4860::8888',
    '2001:db7:ffff::1',
    '2001:db9::1',
    '2003::1',
    '2606:4700::1111',
    '3ffe:ffff::1',
    '3fff:1000::1',
  ])('%s is public', (ip) => {
    expect(isForbiddenAddress(ip, nothing)).toBe(false);
  });

  it.each([
    '',
    'localhost',
    'example.com',
    '127.1',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '2130706433',
    '8.8.8.8 ',
    '[::1]',
    '2606:4700::1111%eth0',
    '8.8.8.8/32',
  ])('text that is no plain address (%j) is refused', (text) => {
    expect(isForbiddenAddress(text, nothing)).toBe(true);
  });

  it('of IPv4 are exactly those of the table, by independent arithmetic', () => {
    const candidates = fc.oneof(anyIpv4, ...v4Ranges.map(within));
    fc.assert(
      fc.property(candidates, (address) => {
        const expected = v4Ranges.some((cidr) => holds(cidr, address));
        expect(isForbiddenAddress(ipv4Text(address), nothing)).toBe(expected);
      }),
      { numRuns: 3_000 },
    );
  });

  it('of IPv6 are all but 2000::/3 without its exceptions, by independent arithmetic', () => {
    const candidates = fc.oneof(
      anyIpv6,
      within('2000::/3'),
      ...v6Exceptions.map(within),
      within('::/96'),
      within('::ffff:0:0/96'),
    );
    fc.assert(
      fc.property(candidates, (address) => {
        const isPublic = holds('2000::/3', address) && !v6Exceptions.some((cidr) => holds(cidr, address));
        expect(isForbiddenAddress(ipv6Text(address), nothing)).toBe(!isPublic);
      }),
      { numRuns: 3_000 },
    );
  });

  it('include every IPv6 form that contains an IPv4 address, whichever address that is', () => {
    const prefixes = ['::', '::ffff:', '::ffff:0:', '64:ff9b::', '2002:'];
    fc.assert(
      fc.property(fc.constantFrom(...prefixes), anyIpv4, (prefix, address) => {
        const hex = `${(address >> 16n).toString(16)}:${(address & 0xffffn).toString(16)}`;
        const ip = prefix === '2002:' ? `2002:${hex}::` : `${prefix}${hex}`;
        expect(isForbiddenAddress(ip, nothing)).toBe(true);
      }),
    );
  });
});

describe('the allow list', () => {
  it('allows its own addresses and no others', () => {
    const allow = parseCidrs('10.1.0.0/16, fd00::/64\n192.168.7.7');
    for (const ip of ['10.1.0.0', '10.1.255.255', 'fd00::1', '192.168.7.7']) {
      expect(isForbiddenAddress(ip, allow), ip).toBe(false);
    }
    for (const ip of ['10.0.255.255', '10.2.0.0', 'fd00:0:0:1::1', '192.168.7.6', '127.0.0.1', '::1']) {
      expect(isForbiddenAddress(ip, allow), ip).toBe(true);
    }
  });

  it('of one family allows nothing of the other', () => {
    expect(isForbiddenAddress('127.0.0.1', parseCidrs('::/0'))).toBe(true);
    expect(isForbiddenAddress('::1', parseCidrs('0.0.0.0/0'))).toBe(true);
    expect(isForbiddenAddress('::ffff:127.0.0.1', parseCidrs('127.0.0.0/8'))).toBe(true);
  });

  it('with NAT64 in it allows public IPv4 addresses behind NAT64 and no private ones', () => {
    const allow = parseCidrs('64:ff9b::/96');
    expect(isForbiddenAddress('64:ff9b::808:808', allow)).toBe(false);
    expect(isForbiddenAddress('64:ff9b::7f00:1', allow)).toBe(true);
    expect(isForbiddenAddress('64:ff9b::a9fe:a9fe', allow)).toBe(true);
    expect(isForbiddenAddress('64:ff9b::', allow)).toBe(true);
    fc.assert(
      fc.property(anyIpv4, (address) => {
        const hex = `${(address >> 16n).toString(16)}:${(address & 0xffffn).toString(16)}`;
        expect(isForbiddenAddress(`64:ff9b::${hex}`, allow)).toBe(isForbiddenAddress(ipv4Text(address), nothing));
      }),
    );
  });

  it.each([
    ['', { opensLoopback: false, opensNetwork: false }],
    ['127.0.0.0/8,::1/128', { opensLoopback: true, opensNetwork: false }],
    ['127.0.0.1', { opensLoopback: true, opensNetwork: false }],
    ['::1', { opensLoopback: true, opensNetwork: false }],
    ['127.0.0.2', { opensLoopback: false, opensNetwork: false }],
    ['126.0.0.0/7', { opensLoopback: true, opensNetwork: true }],
    ['10.0.0.0/8', { opensLoopback: false, opensNetwork: true }],
    ['::/127', { opensLoopback: true, opensNetwork: true }],
  ])('%j is described by what it allows', (text, expected) => {
    expect(parseCidrs(text)).toMatchObject(expected);
  });

  it.each([
    '10.0.0.0/33',
    '::/129',
    '10.0.0/8',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    'example.com',
    'fe80::1%eth0/64',
    '10.0.0.0/0x8',
  ])('with %s is refused, and the message names the entry', (entry) => {
    expect(() => parseCidrs(`127.0.0.1, ${entry}`)).toThrow(entry);
  });

  it('allows exactly the addresses of any CIDR', () => {
    const cidrs = fc
      .tuple(anyIpv4, fc.integer({ min: 0, max: 32 }))
      .map(([base, prefix]) => `${ipv4Text(base)}/${prefix}`);
    fc.assert(
      fc.property(cidrs, fc.constantFrom(...v4Ranges), fc.nat(), (cidr, forbidden, seed) => {
        const address = fc.sample(within(forbidden), { numRuns: 1, seed })[0] ?? 0n;
        expect(isForbiddenAddress(ipv4Text(address), parseCidrs(cidr))).toBe(!holds(cidr, address));
      }),
    );
  });
});
