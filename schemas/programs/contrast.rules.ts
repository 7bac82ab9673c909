// The channels of a colour, and the contrast of two, as WCAG 2.2 defines it.

/** The three channels of `#rrggbb`, each 0..255. */
export function rgb(hex: string): [number, number, number] {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) & 0xff, (value >> 8) & 0xff, value & 0xff];
}

function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = rgb(hex).map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** 1 (no contrast) to 21 (black on white). */
export function contrastOf(one: string, other: string): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

/** WCAG's minimum for text of any size. */
const minContrast = 4.5;

/** The wanted colour where it can be read on the background; else black or white. */
export function readableOn(background: string, wanted: string): string {
  if (contrastOf(background, wanted) >= minContrast) return wanted;
  return contrastOf(background, '#ffffff') >= contrastOf(background, '#000000') ? '#ffffff' : '#000000';
}

/** The first colour with a part (0 to 1) of the second one in it. */
export function mixed(one: string, other: string, part: number): string {
  const [from, to] = [rgb(one), rgb(other)];
  const channels = from.map((channel, index) => Math.round(channel + ((to[index] ?? channel) - channel) * part));
  return `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}
