// Draws a poster as a PNG: as an SVG whose letters are outlines, so that no font is looked for when it is rasterised.
import { renderAsync } from '@resvg/resvg-js';
import pLimit from 'p-limit';
import type { Drawing, Mark, Panel } from './posterDrawing.view.js';
import { runsOf } from './posterFonts.rules.js';

function outline({ text, weight, size, x: left, y }: Extract<Mark, { kind: 'text' }>): string {
  let x = left;
  return runsOf(text, weight)
    .flatMap(({ face, text: part }) => {
      const scale = size / face.font.unitsPerEm;
      const { glyphs, positions } = face.font.layout(part);
      return glyphs.map((glyph, index) => {
        const { xOffset = 0, yOffset = 0, xAdvance = 0 } = positions[index] ?? {};
        const at = [x + xOffset * scale, y - yOffset * scale] as const;
        x += xAdvance * scale;
        return glyph.path.transform(scale, 0, 0, -scale, ...at).toSVG();
      });
    })
    .join('');
}

const path = (d: string, fill: string): string => `<path d="${d}" fill="${fill}"/>`;

function markSvg(mark: Mark): string {
  if (mark.kind === 'path') return path(mark.d, mark.fill);
  if (mark.kind === 'text') return path(outline(mark), mark.fill);
  const { x, y, width, height, png } = mark;
  const href = `data:image/png;base64,${png.toString('base64')}`;
  return `<image x="${x}" y="${y}" width="${width}" height="${height}" href="${href}"/>`;
}

/** A nested SVG clips its content, as the PDF does. */
function panelSvg({ x, y, width, height, turned, marks }: Panel): string {
  const turn = turned ? ` transform="rotate(180 ${width / 2} ${height / 2})"` : '';
  return `<svg x="${x}" y="${y}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><g${turn}>${marks.map(markSvg).join('')}</g></svg>`;
}

const dotsPerPoint = 300 / 72;
/** A sheet needs 35 MB while it is rasterised. */
const inTurn = pLimit(2);

export function rasterised(svg: string, width: number): Promise<Buffer> {
  const options = { fitTo: { mode: 'width', value: Math.round(width) }, font: { loadSystemFonts: false } } as const;
  return inTurn(async () => (await renderAsync(svg, options)).asPng());
}

export function posterPng({ width, height, panels }: Drawing): Promise<Buffer> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}"><rect width="${width}" height="${height}" fill="#fff"/>${panels.map(panelSvg).join('')}</svg>`;
  return rasterised(svg, width * dotsPerPoint);
}
