// Makes the pictures for less sharp screens from the picture for the sharpest. The pixels are worked on in threads of
// the library. Not resvg, which draws posters: it skips pixels when it reduces a picture much.
import sharp from 'sharp';
import { type Slot, slots } from '../../schemas/programs/imageSlots.rules.js';
import type { PassTemplate } from '../../schemas/programs/passTemplate.schema.js';

type Images = PassTemplate['images'];
type Scales = Exclude<NonNullable<Images['logo']>, string>;

/** The picture is one of phones with `most` pixels a point, and no pixels are invented. */
async function reduced(base64: string, { width, height, isFilled }: Slot, scale: number, most: number) {
  const picture = sharp(Buffer.from(base64, 'base64'));
  const own = await picture.metadata();
  const side = (place: number, given: number) =>
    Math.max(Math.round(isFilled ? place * scale : Math.min(place * scale, (given * scale) / most)), 1);
  const png = await picture
    .resize({
      width: side(width, own.width),
      height: side(height, own.height),
      fit: isFilled ? 'outside' : 'inside',
      withoutEnlargement: true,
    })
    .png()
    .toBuffer();
  return png.toString('base64');
}

async function withSmaller(given: Scales, slot: Slot): Promise<Scales> {
  const most = ([3, 2, 1] as const).find((scale) => given[`${scale}x`] !== undefined);
  if (most === undefined) return given;
  const largest = given[`${most}x`] ?? '';
  const missing = ([1, 2] as const).filter((scale) => scale < most && given[`${scale}x`] === undefined);
  const made = missing.map(async (scale) => [`${scale}x`, await reduced(largest, slot, scale, most)] as const);
  return { ...Object.fromEntries(await Promise.all(made)), ...given };
}

/** Gives every picture all scales below its largest. Rejects when pixels are damaged. */
export async function scaleImages(images: Images): Promise<Images> {
  const scaled = Object.entries(images).map(async ([name, given]) => {
    const scales = typeof given === 'string' ? { '3x': given } : given;
    return [name, scales && (await withSmaller(scales, slots[name as keyof Images]))] as const;
  });
  return Object.fromEntries(await Promise.all(scaled));
}
