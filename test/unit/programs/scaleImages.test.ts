// What the service makes of a picture that is given for the sharpest screens only.
import fc from 'fast-check';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { checkProgram } from '../../../activities/programs/checkContent.rules.js';
import { scaleImages } from '../../../activities/programs/scaleImages.client.js';
import { canvas, encodePng } from '../../../activities/wallets/apple/drawing.rules.js';
import { compileTemplate } from '../../../activities/wallets/apple/passPackage.view.js';
import { imageWarnings } from '../../../schemas/programs/imageSlots.rules.js';
import { readPng } from '../../../schemas/programs/png.rules.js';
import { onePagePdf } from '../../rig/standins/anyPicture.js';

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

it('a program that is checked has every scale of its pictures, and the PDF that it gives', async () => {
  const pdf = onePagePdf(160, 50).toString('base64');
  const images = { strip: picture(1125, 432), logo: { '3x': picture(480, 150), pdf } };
  const file = { _id: 'card', slug: 'card', name: 'Card', style: 'points', fields: { primaryLabel: 'POINTS' } };
  const checked = await checkProgram({ ...file, passTemplate: { images } }, 'merchant');
  if (!checked.ok) throw new Error(JSON.stringify(checked.mistakes));
  const { strip, logo } = checked.program.passTemplate.images;
  expect(Object.keys(strip ?? {}).toSorted()).toEqual(['1x', '2x', '3x']);
  expect(Object.keys(logo ?? {}).toSorted()).toEqual(['1x', '2x', '3x', 'pdf']);
  const { files } = compileTemplate({ passTypeId: 'pass.com.example.loyalty', teamId: 'TEAM123456' }, checked.program);
  const logos = files.map(({ name }) => name).filter((name) => name.startsWith('logo'));
  expect(logos).toEqual(['logo.png', 'logo@2x.png', 'logo@3x.png', 'logo.pdf']);
});

it.each([
  ['no PDF', { '3x': picture(480, 150), pdf: picture(9, 9) }, 'logo.pdf', 'the image is not a PDF'],
  ['a PDF alone', { pdf: onePagePdf(9, 9).toString('base64') }, 'logo.3x', 'the image is missing'],
])('%s is refused', async (_, logo, path, message) => {
  const file = { _id: 'card', slug: 'card', name: 'Card', style: 'points', fields: { primaryLabel: 'POINTS' } };
  expect(await checkProgram({ ...file, passTemplate: { images: { logo } } }, 'merchant')).toEqual({
    ok: false,
    mistakes: [{ path: `passTemplate.images.${path}`, message }],
  });
});
