// Pictures that merchants upload for a slot of a pass: of its size and of others, one or one for each scale, and PDFs beside them.
import fc from 'fast-check';
import { canvas, encodePng } from '../../../activities/wallets/apple/drawing.rules.js';

const drawn = new Map<string, string>();
/** A PNG of this size, in base64. */
function picture(width: number, height: number): string {
  const name = `${width}x${height}`;
  const kept =
    drawn.get(name) ?? encodePng(canvas(width, height), { paper: '#aa3300', ink: '#ffffff' }).toString('base64');
  drawn.set(name, kept);
  return kept;
}

/** A page in one colour, of this size in points. */
export function onePagePdf(width: number, height: number): Buffer {
  const drawing = `1 0 0 rg 0 0 ${width} ${height} re f`;
  return Buffer.from(
    [
      '%PDF-1.4',
      '1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj',
      '2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj',
      `3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Contents 4 0 R >> endobj`,
      `4 0 obj << /Length ${drawing.length} >> stream\n${drawing}\nendstream endobj`,
      'trailer << /Root 1 0 R >>',
      '%%EOF\n',
    ].join('\n'),
  );
}

/** In points, and what is too small, too wide, too high, as large as may be. */
const sizes = {
  icon: [
    [38, 38],
    [29, 29],
    [10, 10],
    [100, 100],
  ],
  logo: [
    [160, 50],
    [80, 20],
    [200, 50],
    [10, 60],
  ],
  strip: [
    [375, 144],
    [100, 38],
    [375, 375],
    [375, 20],
  ],
  artwork: [
    [358, 448],
    [100, 125],
    [448, 358],
    [300, 300],
  ],
  primaryLogo: [
    [126, 30],
    [30, 30],
    [200, 30],
    [1, 1],
  ],
} as const;

export function image(slot: keyof typeof sizes): fc.Arbitrary<unknown> {
  const size = fc.constantFrom(...sizes[slot]);
  const at = (scale: number) =>
    size
      // Icons have at least 29 pixels.
      .map(([width, height]) => picture(Math.max(width * scale, 1), Math.max(height * scale, 1)))
      .filter((base64) => slot !== 'icon' || (base64 !== picture(10, 10) && base64 !== picture(20, 20)));
  const each = { '1x': at(1), '2x': at(2), '3x': at(3) };
  const pdf = size.map(([width, height]) => onePagePdf(width, height).toString('base64'));
  const scales = fc.record(each, slot === 'icon' ? {} : { requiredKeys: [] });
  return fc.oneof(
    at(3),
    at(3).map((base64) => `data:image/png;base64,${base64}`),
    scales.filter((given) => Object.keys(given).length > 0),
    fc.record({ ...each, pdf }, { requiredKeys: slot === 'icon' ? ['1x', '2x', '3x', 'pdf'] : ['3x', 'pdf'] }),
  );
}
