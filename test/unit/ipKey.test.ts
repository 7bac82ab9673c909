// The rate limit key of anonymous callers: an IPv4 address, or the /64 of an IPv6 address.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ipKey } from '../../api/limits.js';
import { anyIpv6, ipv6Text } from '../rig/cidrs.js';

/** The address as Node writes it: the longest run of zeros becomes `::`. */
const asNode = (address: string): string => new URL(`http://[${address}]/`).hostname.slice(1, -1);

describe('the key of an address', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8::', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('of %s is %s', (address, key) => {
    expect(ipKey(address)).toBe(key);
  });

  it('is the same for every address of one /64, and differs for all others', () => {
    fc.assert(
      fc.property(anyIpv6, anyIpv6, fc.boolean(), (one, other, near) => {
        const second = near ? (one & ~(2n ** 64n - 1n)) | (other & (2n ** 64n - 1n)) : other;
        const mapped = (address: bigint) => address >> 32n === 0xffffn;
        fc.pre(!mapped(one) && !mapped(second));
        const same = one >> 64n === second >> 64n;
        expect(ipKey(asNode(ipv6Text(one))) === ipKey(asNode(ipv6Text(second)))).toBe(same);
      }),
    );
  });
});
