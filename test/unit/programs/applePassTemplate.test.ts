// A wrong template is refused with the name of the wrong part, because a phone would refuse its pass without a message.
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { canvas, encodePng } from '../../../activities/wallets/apple/drawing.rules.js';
import { templateProblems } from '../../../activities/wallets/apple/templateCheck.rules.js';
import { passTemplate } from '../../../schemas/programs/passTemplate.schema.js';
import { readPng } from '../../../schemas/programs/png.rules.js';

const png = (width: number, height = width) => encodePng(canvas(width, height), { paper: '#000000', ink: '#ffffff' });
const base64 = (bytes: Buffer) => bytes.toString('base64');
const problems = (template: unknown) =>
  passTemplate.safeParse(template).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];

describe('a pass template', () => {
  it('may be missing or empty and is then complete', () => {
    expect(passTemplate.parse(undefined)).toEqual(passTemplate.parse({}));
    expect(passTemplate.parse({}).colors).toEqual({ background: '#14532d', foreground: '#ffffff', label: '#bbf7d0' });
    expect(templateProblems({ name: 'Demo', style: 'points' })).toEqual([]);
  });

  it('is not changed by a second parse', () => {
    const icon = `data:image/png;base64,${base64(png(87))}`;
    const once = passTemplate.parse({ images: { icon }, colors: { background: '#ABCDEF' } });
    expect(passTemplate.parse(once)).toEqual(once);
    expect(once.images.icon).toBe(base64(png(87)));
    expect(once.colors.background).toBe('#abcdef');
  });

  it.each([
    ['a file name', 'icon.png', 'images.icon: the image is not base64'],
    ['nothing', '', 'images.icon: the image is missing'],
    ['a JPEG', base64(Buffer.from('ffd8ffe000104a464946', 'hex')), 'images.icon: the image is not a PNG'],
    ['a PNG cut short', base64(png(87).subarray(0, -20)), 'images.icon: the image is cut off'],
    [
      'a PNG with a tail',
      base64(Buffer.concat([png(87), Buffer.from('x')])),
      'images.icon: the image has bytes behind its end',
    ],
    [
      'an icon that is not square',
      base64(png(87, 58)),
      'images.icon: the image is 87 x 58 pixels, and an icon is square',
    ],
    ['a tiny icon', base64(png(16)), 'images.icon: the image is 16 x 16 pixels, and an icon has at least 29 a side'],
    ['a huge image', base64(png(2049)), 'images.icon: the image is 2049 x 2049 pixels, more than 2048 a side'],
    ['too many bytes', base64(Buffer.alloc(600_000)), 'images.icon: the image is 600000 bytes, more than 524288'],
    ['null', null, 'images.icon: give a PNG in base64, or an object with one for 1x, 2x and 3x'],
  ])('refuses %s as an icon', (_, icon, problem) => {
    expect(problems({ images: { icon } })).toEqual([problem]);
  });

  it('names the scale of an icon that is missing or broken', () => {
    const icon = { '1x': base64(png(29)), '3x': base64(png(87).subarray(0, 50)) };
    expect(problems({ images: { icon } })).toEqual([
      'images.icon.2x: the image is missing',
      'images.icon.3x: the image is cut off',
    ]);
  });

  it('accepts one scale of a logo, but not none', () => {
    expect(problems({ images: { logo: { '2x': base64(png(100, 50)) } } })).toEqual([]);
    expect(problems({ images: { logo: {} } })).toHaveLength(3);
  });

  it.each([
    ['a colour by name', { colors: { background: 'red' } }, 'colors.background'],
    ['an unknown key', { color: {} }, ''],
    [
      'two back fields of one key',
      { backFields: ['a', 'a'].map((key) => ({ key, label: 'L', value: 'V' })) },
      'backFields.1.key',
    ],
    ['a language that is none', { locales: { english_GB: { a: 'b' } } }, 'locales.english_GB'],
    ['a language without strings', { locales: { de: {} } }, 'locales.de'],
    ['a text that the database driver reads as a type', { locales: { de: { _bsontype: 'b' } } }, 'locales.de'],
    ['a text that it reads as a reference', { locales: { de: { $ref: 'a', $id: 'b' } } }, 'locales.de'],
    ['a moment in the year 10000 of UTC', { expirationDate: '9999-12-31T23:59:00-00:01' }, 'expirationDate'],
    ['a day without a time', { expirationDate: '2030-01-01' }, 'expirationDate'],
    ['control characters', { organizationName: 'a\u0007b' }, 'organizationName'],
    ['half of a surrogate pair', { organizationName: 'a\ud800b' }, 'organizationName'],
    [
      'half of a surrogate pair in a long text',
      { backFields: [{ key: 'a', label: 'L', value: 'a\udc00' }] },
      'backFields.0.value',
    ],
    ['eleven locations', { locations: Array(11).fill({ latitude: 0, longitude: 0 }) }, 'locations'],
  ])('refuses %s', (_, template, path) => {
    expect(passTemplate.safeParse(template).error?.issues[0]?.path.join('.')).toBe(path);
  });

  it('is refused when an image has fewer pixels than its header says', () => {
    const short = Buffer.from(png(87));
    const whole = png(88);
    // The header of the larger image with the pixels of the smaller one; all checksums are correct.
    whole.copy(short, 8, 8, 33);
    expect(readPng(short).ok).toBe(true);
    const passTemplateOfShort = { images: { icon: base64(short) } };
    expect(templateProblems({ name: 'Demo', style: 'points', passTemplate: passTemplateOfShort })).toContainEqual({
      path: 'passTemplate.images.icon.1x',
      message: 'the image has damaged pixels',
    });
  });

  it("is refused with passkit-generator's reason when the format forbids it, and nothing is printed", () => {
    const printed = vi.spyOn(console, 'warn');
    const found = templateProblems({ name: '', style: 'points', passTemplate: { logoText: 'Demo' } });
    expect(found).toHaveLength(1);
    expect(found[0]?.message).toContain('"organizationName" is not allowed to be empty');
    expect(printed).not.toHaveBeenCalled();
    printed.mockRestore();
  });

  it('needs no text next to the logo', () => {
    expect(templateProblems({ name: 'Demo', style: 'points', passTemplate: { logoText: '' } })).toEqual([]);
  });
});

describe('reading a PNG', () => {
  it('accepts every size that the drawing code makes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 99 }), fc.integer({ min: 1, max: 99 }), (width, height) => {
        expect(readPng(png(width, height))).toMatchObject({ ok: true, width, height, bitsPerPixel: 4 });
      }),
    );
  });

  it('detects a change of any byte', () => {
    const whole = png(40);
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const damaged = Buffer.from(whole);
        damaged[at] = (damaged[at] ?? 0) ^ change;
        expect(readPng(damaged).ok).toBe(false);
      }),
    );
  });

  it('never throws, for any bytes', () => {
    const signature = png(1).subarray(0, 8);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(readPng(Buffer.concat([signature, bytes])).ok).toBe(false);
      }),
    );
  });
});
