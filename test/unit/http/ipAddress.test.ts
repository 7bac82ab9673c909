// The canonical address of a caller, and what limits and audit entries derive from it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalIp, ipKey, networkOf } from '../../../schemas/shared/ipAddress.rules.js';
import { anyIpv4, anyIpv6, ipv4Text, ipv6Text } from '../../rig/checks/cidrs.js';

/** The address as Node writes it: the longest run of zeros becomes `::`. */
const asNode = (address: string): string => new URL(`http://[${address}]/`).hostname.slice(1, -1);

const isMapped = (address: bigint) => address >> 32n === 0xffffn;

const port = fc.integer({ min: 0, max: 65_535 });

describe('the address of a caller', () => {
  it('is the same in every spelling of an IPv4 address', () => {
    fc.assert(
      fc.property(anyIpv4, port, (value, port) => {
        const ip = ipv4Text(value);
        const mapped = `::ffff:${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
        const spellings = [
          ...[ip, `${ip}:${port}`, ` ${ip} `, `[${ip}]:${port}`, `::ffff:${ip}`, `::FFFF:${ip}`, mapped],
          ...[`[::ffff:${ip}]:${port}`, `0:0:0:0:0:ffff:${ip}`, `[${mapped}]`],
        ];
        expect(new Set(spellings.map(canonicalIp))).toEqual(new Set([ip]));
      }),
    );
  });

  it('is the same in every spelling of an IPv6 address', () => {
    fc.assert(
      fc.property(anyIpv6, port, fc.stringMatching(/^[a-z0-9]{1,8}$/), (value, port, zone) => {
        fc.pre(!isMapped(value));
        const long = ipv6Text(value);
        const short = asNode(long);
        const padded = long.replace(/[^:]+/g, (group) => group.padStart(4, '0'));
        const spellings = [
          ...[long, short, padded, padded.toUpperCase(), `[${short}]`, `[${long}]:${port}`],
          ...[`${short}%${zone}`, `[${short}%${zone}]:${port}`],
        ];
        expect(new Set(spellings.map(canonicalIp)).size).toBe(1);
        expect(asNode(canonicalIp(long))).toBe(short);
      }),
    );
  });

  it.each([
    ...['', 'unknown', '_hidden', '203.0.113', '203.0.113.256', '0313.0.113.7', '203.0.113.7:port', '3405803783'],
    ...['2001:db8::1::2', '[2001:db8::1', '[]:443', '[203.0.113.7]x', '2001:db8:g::', '203.0.113.7, 203.0.113.8'],
  ])('does not exist in %j, which shares one count with all that is no address', (text) => {
    expect([canonicalIp(text), ipKey(text), networkOf(text)]).toEqual(['', '', null]);
  });

  it('read from any text, reads as itself', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.ipV4(), fc.ipV6()), (text) => {
        expect(canonicalIp(canonicalIp(text))).toBe(canonicalIp(text));
        expect(ipKey(canonicalIp(text))).toBe(ipKey(text));
        expect(networkOf(canonicalIp(text))).toBe(networkOf(text));
      }),
    );
  });
});

describe('the key of an address', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9/32'],
    ['::ffff:203.0.113.9', '203.0.113.9/32'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8::/64'],
    ['2001:db8::', '2001:db8::/64'],
    ['::1', '::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
  ])('of %s is %s', (address, key) => {
    expect(ipKey(address)).toBe(key);
  });

  it('is the same for every address of one /64, and differs for all others', () => {
    fc.assert(
      fc.property(anyIpv6, anyIpv6, fc.boolean(), (one, other, near) => {
        const second = near ? (one & ~(2n ** 64n - 1n)) | (other & (2n ** 64n - 1n)) : other;
        fc.pre(!isMapped(one) && !isMapped(second));
        const same = one >> 64n === second >> 64n;
        expect(ipKey(ipv6Text(one)) === ipKey(ipv6Text(second))).toBe(same);
      }),
    );
  });
});
