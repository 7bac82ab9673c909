// The sizes of a pass's pictures in points, from Apple's own tool (apple/pass-builder). A phone of scale 3 shows three
// pixels a point. A picture of another size is scaled or cropped by the phone, which its program is warned of.
import type { PassTemplate } from './passTemplate.schema.js';
import { readPng } from './png.rules.js';

interface Slot {
  width: number;
  height: number;
  /** Filled and cropped by the phone; other pictures are shown whole, up to this size. */
  isFilled: boolean;
  /** The width on older systems, when it differs. */
  least?: number;
}

const slots: Record<keyof PassTemplate['images'], Slot> = {
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

/** Warnings by path. One picture for all scales is that of the largest. */
export function imageWarnings(images: PassTemplate['images']): { path: string; message: string }[] {
  const found: { path: string; message: string }[] = [];
  const look = (path: string, base64: string | undefined, slot: Slot, scale: number) => {
    const png = base64 === undefined ? undefined : readPng(Buffer.from(base64, 'base64'));
    const message = png?.ok && problemOf(png, slot, scale);
    if (message) found.push({ path: `passTemplate.images.${path}`, message });
  };
  for (const [name, slot] of Object.entries(slots)) {
    const given = images[name as keyof typeof slots];
    if (typeof given === 'string') look(name, given, slot, 3);
    else for (const scale of [1, 2, 3] as const) look(`${name}.${scale}x`, given?.[`${scale}x`], slot, scale);
  }
  return found;
}
