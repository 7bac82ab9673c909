// The sizes of a pass's pictures in points, from Apple's own tool (apple/pass-builder). A phone of scale 3 shows three
// pixels a point. A picture of another size is scaled or cropped by the phone, which its program is warned of.
import type { PassTemplate } from './passTemplate.schema.js';
import { readPdf } from './pdf.rules.js';
import { readPng } from './png.rules.js';

export interface Slot {
  width: number;
  height: number;
  /** Filled and cropped by the phone; other pictures are shown whole, up to this size. */
  isFilled: boolean;
  /** The width on older systems, when it differs. */
  least?: number;
}

export const slots: Record<keyof PassTemplate['images'], Slot> = {
  icon: { width: 38, height: 38, isFilled: true, least: 29 },
  logo: { width: 160, height: 50, isFilled: false },
  strip: { width: 375, height: 144, isFilled: true },
  artwork: { width: 358, height: 448, isFilled: true },
  primaryLogo: { width: 126, height: 30, isFilled: false },
};

/** Less than this part of a side is cropped unseen. */
const seenCrop = 0.05;

function problemOf(
  size: { width: number; height: number },
  { width, height, isFilled, least = width }: Slot,
  scale: number,
) {
  const is = `is ${size.width} x ${size.height} pixels`;
  const most = `${width * scale} x ${height * scale}`;
  if (isFilled && size.width < least * scale)
    return `${is}, and phones with ${scale} pixels a point enlarge it to ${most}`;
  const [wide, high] = [size.width / (width * scale), size.height / (height * scale)];
  if (isFilled && Math.min(wide, high) / Math.max(wide, high) < 1 - seenCrop)
    return `${is}, and phones crop it to the shape of ${most}`;
  if (!isFilled && Math.max(wide, high) > 1) return `${is}, and phones reduce it to ${most} at most`;
  return undefined;
}

/** What a PDF is drawn otherwise for: a point of it is a point of the phone. */
function pdfProblemOf(size: { width: number; height: number }, { width, height, isFilled }: Slot) {
  const isRight = isFilled
    ? Math.max(Math.abs(size.width - width), Math.abs(size.height - height)) < 1
    : size.width <= width && size.height <= height;
  if (isRight) return undefined;
  const [wide, high] = [size.width, size.height].map((side) => Number(side.toFixed(2)));
  return `is ${wide} x ${high} points, and its place ${width} x ${height}${isFilled ? '' : ' at most'}`;
}

/** Warnings by path, those of the largest scale that has one. One picture for all scales is that of the largest. */
export function imageWarnings(images: PassTemplate['images']): { path: string; message: string }[] {
  const found: { path: string; message: string }[] = [];
  const look = (path: string, message: string | undefined | false) => {
    if (message) found.push({ path: `passTemplate.images.${path}`, message });
    return Boolean(message);
  };
  const ofPng = (base64: string | undefined, slot: Slot, scale: number) => {
    const png = base64 === undefined ? undefined : readPng(Buffer.from(base64, 'base64'));
    return png?.ok && problemOf(png, slot, scale);
  };
  for (const [name, slot] of Object.entries(slots)) {
    const given = images[name as keyof typeof slots];
    if (typeof given === 'string') look(name, ofPng(given, slot, 3));
    if (typeof given !== 'object') continue;
    ([3, 2, 1] as const).some((scale) => look(`${name}.${scale}x`, ofPng(given[`${scale}x`], slot, scale)));
    const pdf = given.pdf === undefined ? undefined : readPdf(Buffer.from(given.pdf, 'base64'));
    look(`${name}.pdf`, pdf?.ok && pdfProblemOf(pdf, slot));
  }
  return found;
}
