// DER and zip are written by hand for speed, so each is compared with known encodings and read back by a separate
// reader.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { der, derElements, derOid, derTime, TAG } from '../../../activities/wallets/apple/der.rules.js';
import { zip, zipFile } from '../../../activities/wallets/apple/zip.rules.js';
import { BrokenPass, unzip } from '../../rig/checks/pkpass.js';

describe('DER', () => {
  it.each([
    ['1.2.840.113549.1.7.2', '06092a864886f70d010702'],
    ['1.3.14.3.2.26', '06052b0e03021a'],
    ['2.5.4.3', '0603550403'],
  ])('writes the object identifier %s', (dotted, hex) => {
    expect(derOid(dotted).toString('hex')).toBe(hex);
  });

  it.each([
    ['2026-11-21T10:11:12.999Z', TAG.utcTime, '261121101112Z'],
    ['2049-12-31T23:59:59Z', TAG.utcTime, '491231235959Z'],
    ['2050-01-01T00:00:00Z', TAG.generalizedTime, '20500101000000Z'],
  ])('writes %s in the form for its year', (at, tag, text) => {
    expect(derElements(derTime(new Date(at)))).toMatchObject([{ tag, content: Buffer.from(text) }]);
  });

  it('reads back what it wrote, short or long', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 700 }), { maxLength: 4 }), (contents) => {
        const written = Buffer.concat(contents.map((content) => der(TAG.octetString, Buffer.from(content))));
        expect(derElements(written).map(({ content }) => new Uint8Array(content))).toEqual(contents);
      }),
    );
  });

  it.each([
    [127, '047f'],
    [128, '048180'],
    [256, '04820100'],
  ])('writes the length %i in the fewest possible bytes', (length, start) => {
    expect(der(TAG.octetString, Buffer.alloc(length)).toString('hex').startsWith(start)).toBe(true);
  });
});

describe('a zip archive', () => {
  const files = fc.dictionary(
    fc.stringMatching(/^[a-z]{1,12}(\/[a-z]{1,8})?\.png$/),
    fc.uint8Array({ maxLength: 5000 }),
  );

  it('returns every file', () => {
    fc.assert(
      fc.property(files, (contents) => {
        const archive = zip(Object.entries(contents).map(([name, bytes]) => zipFile(name, Buffer.from(bytes))));
        const found = [...unzip(archive)].map(([name, bytes]) => [name, new Uint8Array(bytes)]);
        expect(Object.fromEntries(found)).toEqual({ ...contents });
      }),
    );
  });

  it('has the same bytes for the same files, and its reader detects a changed one', () => {
    const archive = () => zip([zipFile('a.txt', Buffer.from('hello')), zipFile('b.txt', Buffer.from('world'))]);
    expect(archive().equals(archive())).toBe(true);
    const changed = archive();
    changed[changed.indexOf('world')] = 0x57;
    expect(() => unzip(changed)).toThrow(BrokenPass);
  });
});
