// What the service makes of a picture that is given for the sharpest screens only.
import fc from 'fast-check';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { checkProgram } from '../../../activities/programs/checkContent.rules.js';
import { compileScaled } from '../../../activities/wallets/apple/compileScaled.client.js';
import { canvas, encodePng } from '../../../activities/wallets/apple/drawing.rules.js';
import { scaleImages } from '../../../activities/wallets/apple/scaleImages.client.js';
import { imageWarnings } from '../../../schemas/programs/imageSlots.rules.js';
import { MAX_IMAGE_BYTES } from '../../../schemas/programs/passTemplate.schema.js';
import { readPng } from '../../../schemas/programs/png.rules.js';
import { onePagePdf } from '../../rig/standins/anyPicture.js';

const cardFile = { _id: 'card', slug: 'card', name: 'Card', style: 'points', fields: { primaryLabel: 'POINTS' } };
const identity = { passTypeId: 'pass.com.example.loyalty', teamId: 'TEAM123456' };

const picture = (width: number, height: number) =>
  encodePng(canvas(width, height), { paper: '#aa0000', ink: '#ffffff' }).toString('base64');
const sizeOf = (base64 = '') => {
  const png = readPng(Buffer.from(base64, 'base64'));
  return png.ok ? [png.width, png.height] : png.problem;
};
const scaled = async (name: 'icon' | 'logo' | 'strip', given: Parameters<typeof scaleImages>[0]['logo']) => {
  const made = (await scaleImages({ [name]: given }))[name];
  if (typeof made !== 'object') throw new Error('no scales');
  return made;
};

it.each([
  ['a strip of the right size', 'strip', picture(1125, 432), [375, 144], [750, 288], [1125, 432]],
  ['a large icon', 'icon', picture(512, 512), [38, 38], [76, 76], [512, 512]],
  ['an icon of older systems', 'icon', picture(87, 87), [38, 38], [76, 76], [87, 87]],
  ['a strip without enough pixels', 'strip', picture(400, 154), [375, 144], [400, 154], [400, 154]],
  ['a small logo, which stays small', 'logo', picture(240, 60), [80, 20], [160, 40], [240, 60]],
  ['a wide logo', 'logo', picture(960, 120), [160, 20], [320, 40], [960, 120]],
  ['a logo for two scales', 'logo', { '2x': picture(100, 60) }, [50, 30], [100, 60], 'is not a PNG'],
  ['a logo of given scales', 'logo', { '1x': picture(9, 9), '3x': picture(300, 90) }, [9, 9], [200, 60], [300, 90]],
] as const)('%s is reduced for each screen', async (_, name, given, ...sizes) => {
  const made = await scaled(name, given);
  expect([made['1x'], made['2x'], made['3x']].map(sizeOf)).toEqual(sizes);
});

it('a strip without enough pixels is warned of, and keeps its bytes for the sharpest screens', async () => {
  const given = picture(400, 154);
  const images = await scaleImages({ strip: given });
  expect(images).toMatchObject({ strip: { '3x': given } });
  expect(imageWarnings(images)).toEqual([
    {
      path: 'passTemplate.images.strip.3x',
      message: 'is 400 x 154 pixels, and phones with 3 pixels a point enlarge it to 1125 x 432',
    },
  ]);
});

it('each pixel of a reduced picture is a mean of those it stands for, and its transparency stays', async () => {
  const [width, height] = [480, 150];
  const pixels = Buffer.alloc(width * height * 4);
  for (let at = 0; at < width * height; at += 1)
    pixels.set([255, 255, 255, (at + Math.floor(at / width)) % 2 ? 255 : 0], at * 4);
  const board = await sharp(pixels, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer();
  const { '1x': small = '' } = await scaled('logo', board.toString('base64'));
  const { channels } = await sharp(Buffer.from(small, 'base64')).stats();
  expect(channels).toHaveLength(4);
  expect(Math.abs((channels[3]?.mean ?? 0) - 127.5)).toBeLessThan(3);
  expect(channels[3]?.stdev).toBeLessThan(8);
});

it('no scale is larger than the picture, and what was made is not made again', async () => {
  const side = fc.integer({ min: 29, max: 700 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('icon', 'logo', 'strip'), side, side, async (name, width, height) => {
      const made = await scaled(name, picture(width, height));
      for (const scale of ['1x', '2x', '3x'] as const) {
        const [wide = 0, high = 0] = sizeOf(made[scale]) as number[];
        expect(wide <= width && high <= height).toBe(true);
      }
      expect(await scaled(name, made)).toEqual(made);
    }),
    { numRuns: 20 },
  );
});

it('a pass has every scale of its pictures and the PDF, and its program keeps what it was given', async () => {
  const pdf = onePagePdf(160, 50).toString('base64');
  const images = { strip: picture(1125, 432), logo: { '3x': picture(480, 150), pdf } };
  const checked = await checkProgram({ ...cardFile, passTemplate: { images } }, 'merchant');
  if (!checked.ok) throw new Error(JSON.stringify(checked.mistakes));
  expect(checked.program.passTemplate.images).toEqual(images);
  const { files } = await compileScaled(identity, checked.program);
  const pictures = files.map(({ name }) => name).filter((name) => /^(?:logo|strip)/.test(name));
  expect(pictures.toSorted()).toEqual([
    ...['logo.pdf', 'logo.png', 'logo@2x.png', 'logo@3x.png'],
    ...['strip.png', 'strip@2x.png', 'strip@3x.png'],
  ]);
});

it('a picture full of noise, which hardly gets smaller, still makes a pass', async () => {
  const noise = Buffer.alloc(600 * 280 * 3).map(() => Math.random() * 256);
  const png = await sharp(noise, { raw: { width: 600, height: 280, channels: 3 } })
    .png({ palette: true, colours: 256 })
    .toBuffer();
  expect(png.length).toBeLessThan(MAX_IMAGE_BYTES);
  const given = { strip: png.toString('base64') };
  const { strip } = await scaleImages(given);
  if (typeof strip !== 'object') throw new Error('no scales');
  for (const base64 of Object.values(strip))
    expect(Buffer.from(base64 ?? '', 'base64').length).toBeLessThanOrEqual(MAX_IMAGE_BYTES);
  const program = { name: 'Card', style: 'points' as const, passTemplate: { images: given } };
  await expect(compileScaled(identity, program)).resolves.toBeDefined();
});

it('a picture with damaged pixels is refused by its name', async () => {
  const bytes = Buffer.from(picture(480, 150), 'base64');
  bytes.fill(0, 60, bytes.length - 20);
  const images = { strip: picture(1125, 432), logo: bytes.toString('base64') };
  const checked = await checkProgram({ ...cardFile, passTemplate: { images } }, 'merchant');
  expect(checked).toEqual({
    ok: false,
    mistakes: [{ path: 'passTemplate.images.logo', message: expect.stringContaining('damaged') }],
  });
  expect((await scaleImages(images)).logo).toBe(images.logo);
});

it.each([
  ['no PDF', { '3x': picture(480, 150), pdf: picture(9, 9) }, 'logo.pdf', 'the image is not a PDF'],
  ['a PDF alone', { pdf: onePagePdf(9, 9).toString('base64') }, 'logo.3x', 'the image is missing'],
])('%s is refused', async (_, logo, path, message) => {
  expect(await checkProgram({ ...cardFile, passTemplate: { images: { logo } } }, 'merchant')).toEqual({
    ok: false,
    mistakes: [{ path: `passTemplate.images.${path}`, message }],
  });
});
