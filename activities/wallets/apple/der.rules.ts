// The part of DER that is needed to write a CMS signature and to read two fields of a certificate. Lengths are definite
// and minimal, as DER requires; Wallet refuses any other encoding.

export const TAG = {
  integer: 0x02,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  /** [0], constructed. */
  context0: 0xa0,
} as const;

export function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const length = contents.reduce((total, content) => total + content.length, 0);
  return Buffer.concat([Buffer.from([tag, ...lengthBytes(length)]), ...contents]);
}

function lengthBytes(length: number): number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [0x80 | bytes.length, ...bytes];
}

export function derOid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const groups = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return der(TAG.oid, Buffer.from(bytes));
}

/** RFC 5652, 11.3: UTCTime through 2049, GeneralizedTime from 2050 on, in whole seconds and UTC. */
export function derTime(at: Date): Buffer {
  const digits = at.toISOString().replace(/[-:T]|\.\d+/g, '');
  const isLate = at.getUTCFullYear() >= 2050;
  return der(isLate ? TAG.generalizedTime : TAG.utcTime, Buffer.from(isLate ? digits : digits.slice(2), 'latin1'));
}

export interface DerElement {
  tag: number;
  /** Tag, length and content. */
  whole: Buffer;
  content: Buffer;
}

/** Returns the elements that follow one another in `bytes`. Throws RangeError when a length runs past the end. */
export function derElements(bytes: Buffer): DerElement[] {
  const elements: DerElement[] = [];
  let at = 0;
  while (at < bytes.length) {
    const first = bytes.readUInt8(at + 1);
    const extra = first < 0x80 ? 0 : first & 0x7f;
    const length = extra === 0 ? first : bytes.readUIntBE(at + 2, extra);
    const start = at + 2 + extra;
    const end = start + length;
    if (end > bytes.length) throw new RangeError('a DER length runs past the end');
    elements.push({ tag: bytes.readUInt8(at), whole: bytes.subarray(at, end), content: bytes.subarray(start, end) });
    at = end;
  }
  return elements;
}
