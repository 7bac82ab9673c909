// Makes the pictures for less sharp screens from the picture for the sharpest. A program keeps what it was given,
// because other versions of the library make other bytes. The pixels are worked on in threads of the library. Not resvg, which
// draws posters: it skips pixels when it reduces a picture much.
import sharp from 'sharp';
import { type Slot, slots } from '../../../schemas/programs/imageSlots.rules.js';
import { MAX_IMAGE_BYTES, type PassTemplate } from '../../../schemas/programs/passTemplate.schema.js';

type Images = PassTemplate['images'];
type Scales = Exclude<NonNullable<Images['logo']>, string>;
type Name = keyof Images;

/**
 * The picture is one of phones with `most` pixels a point, and no pixels are invented. A picture that cannot be made
 * small enough for a pass stays as it is.
 */
async function reduced(base64: string, { width, height, isFilled }: Slot, scale: number, most: number) {
  const picture = sharp(Buffer.from(base64, 'base64'));
  const own = await picture.metadata();
  const side = (place: number, given: number) =>
    Math.max(Math.round(isFilled ? place * scale : Math.min(place * scale, (given * scale) / most)), 1);
  picture.resize({
    width: side(width, own.width),
    height: side(height, own.height),
    fit: isFilled ? 'outside' : 'inside',
    withoutEnlargement: true,
  });
  for (const palette of [false, true]) {
    const png = await picture.clone().png({ compressionLevel: 9, adaptiveFiltering: true, palette }).toBuffer();
    if (png.length <= MAX_IMAGE_BYTES) return png.toString('base64');
  }
  return base64;
}

const scalesOf = (given: string | Scales): Scales => (typeof given === 'string' ? { '3x': given } : given);

async function withSmaller(given: Scales, slot: Slot): Promise<Scales> {
  const most = ([3, 2, 1] as const).find((scale) => given[`${scale}x`] !== undefined);
  if (most === undefined) return given;
  const largest = given[`${most}x`] ?? '';
  const missing = ([1, 2] as const).filter((scale) => scale < most && given[`${scale}x`] === undefined);
  const made = missing.map(async (scale) => [`${scale}x`, await reduced(largest, slot, scale, most)] as const);
  return { ...Object.fromEntries(await Promise.all(made)), ...given };
}

const picturesOf = (images: Images) => Object.entries(images) as [Name, NonNullable<Images[Name]>][];

/** Gives every picture all scales below its largest. One whose pixels are damaged stays as it is. */
export async function scaleImages(images: Images): Promise<Images> {
  const scaled = picturesOf(images).map(async ([name, picture]) => {
    const made = withSmaller(scalesOf(picture), slots[name]);
    return [name, await made.catch(() => picture)] as const;
  });
  return Object.fromEntries(await Promise.all(scaled));
}

/** The names of the pictures whose pixels cannot be read. */
export async function damagedImages(images: Images): Promise<Name[]> {
  const looked = picturesOf(images).map(async ([name, picture]) => {
    const { pdf, ...pngs } = scalesOf(picture);
    const read = Promise.all(Object.values(pngs).map((base64 = '') => sharp(Buffer.from(base64, 'base64')).stats()));
    return read.then(
      () => [],
      () => [name],
    );
  });
  return (await Promise.all(looked)).flat();
}
