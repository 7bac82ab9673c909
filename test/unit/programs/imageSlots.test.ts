// What a program is warned of about its pictures.
import { expect, it } from 'vitest';
import { canvas, encodePng } from '../../../activities/wallets/apple/drawing.rules.js';
import { imageWarnings } from '../../../schemas/programs/imageSlots.rules.js';
import { onePagePdf } from '../../rig/standins/anyPicture.js';

const picture = (width: number, height: number) =>
  encodePng(canvas(width, height), { paper: '#aa0000', ink: '#ffffff' }).toString('base64');

const pdf = (width: number, height: number) => onePagePdf(width, height).toString('base64');

it.each([
  ['an icon of the right size', { icon: picture(114, 114) }, []],
  ['an icon of older systems', { icon: picture(87, 87) }, []],
  [
    'an icon that is enlarged',
    { icon: { '1x': picture(38, 38), '2x': picture(40, 40), '3x': picture(114, 114) } },
    ['icon.2x: is 40 x 40 pixels, and phones with 2 pixels a point enlarge it to 76 x 76'],
  ],
  ['a small logo', { logo: picture(200, 60) }, []],
  [
    'a logo that is too wide in one scale only',
    { logo: { '1x': picture(170, 40), '2x': picture(320, 100) } },
    ['logo.1x: is 170 x 40 pixels, and phones reduce it to 160 x 50 at most'],
  ],
  ['a strip of the right size', { strip: picture(1125, 432) }, []],
  ['a strip of which a hundredth is cropped', { strip: picture(1125, 440) }, []],
  [
    'an upright strip',
    { strip: picture(1125, 1125) },
    ['strip: is 1125 x 1125 pixels, and phones crop it to the shape of 1125 x 432'],
  ],
  ['a poster', { artwork: picture(1074, 1344), primaryLogo: picture(378, 90) }, []],
  [
    'a poster that lies on its side',
    { artwork: picture(1344, 1074), primaryLogo: picture(378, 91) },
    [
      'artwork: is 1344 x 1074 pixels, and phones crop it to the shape of 1074 x 1344',
      'primaryLogo: is 378 x 91 pixels, and phones reduce it to 378 x 90 at most',
    ],
  ],
  [
    'a strip that is too small in every scale, said once',
    { strip: { '1x': picture(100, 38), '2x': picture(200, 77), '3x': picture(300, 115) } },
    ['strip.3x: is 300 x 115 pixels, and phones with 3 pixels a point enlarge it to 1125 x 432'],
  ],
  ['a PDF of the size of its place', { logo: { '3x': picture(300, 90), pdf: pdf(150, 45) } }, []],
  [
    'a PDF of another size',
    {
      icon: { '1x': picture(38, 38), '2x': picture(76, 76), '3x': picture(114, 114), pdf: pdf(114, 114) },
      logo: { '3x': picture(480, 150), pdf: pdf(160.25, 50) },
    },
    [
      'icon.pdf: is 114 x 114 points, and its place 38 x 38',
      'logo.pdf: is 160.25 x 50 points, and its place 160 x 50 at most',
    ],
  ],
  ['no picture', {}, []],
])('%s', (_, images, said) => {
  const found = imageWarnings(images).map(
    ({ path, message }) => `${path.replace('passTemplate.images.', '')}: ${message}`,
  );
  expect(found).toEqual(said);
});
