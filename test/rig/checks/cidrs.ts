// CIDR arithmetic on big integers: an oracle for the tests that shares no code with schemas/shared/addresses.rules.ts.
import fc from 'fast-check';

export const anyIpv4 = fc.bigInt({ min: 0n, max: 2n ** 32n - 1n });
export const anyIpv6 = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n });

interface Cidr {
  base: bigint;
  size: bigint;
}

export function holds(cidr: string, address: bigint): boolean {
  const { base, size } = toCidr(cidr);
  return address >= base && address < base + size;
}

/** Arbitrary addresses of a range, including its first and its last address. */
export function within(cidr: string): fc.Arbitrary<bigint> {
  const { base, size } = toCidr(cidr);
  const last = base + size - 1n;
  return fc.oneof(fc.constantFrom(base, last), fc.bigInt({ min: base, max: last }));
}

export function ipv4Text(address: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (address >> shift) & 255n).join('.');
}

export function ipv6Text(address: bigint): string {
  return Array.from({ length: 8 }, (_, group) => ((address >> BigInt(112 - 16 * group)) & 0xffffn).toString(16)).join(
    ':',
  );
}

function toCidr(text: string): Cidr {
  const [address = '', prefix = ''] = text.split('/');
  const bits = address.includes(':') ? 128n : 32n;
  const size = 1n << (bits - BigInt(prefix));
  const value = address.includes(':') ? ipv6Value(address) : ipv4Value(address);
  return { base: value - (value % size), size };
}

function ipv4Value(text: string): bigint {
  return text.split('.').reduce((value, part) => value * 256n + BigInt(part), 0n);
}

function ipv6Value(text: string): bigint {
  const [head = '', tail = ''] = text.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return groups.reduce((value, group) => value * 65_536n + BigInt(`0x${group}`), 0n);
}
