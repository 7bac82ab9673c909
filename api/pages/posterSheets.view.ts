// Lays a poster out: a portrait sheet (A4, A5), or an A4 sheet that folds into a table tent with two faces.
import { encode } from 'uqr';
import { mixed } from '../../schemas/programs/contrast.rules.js';
import type { PosterFormat } from '../../schemas/programs/poster.schema.js';
import { circle, type Mark, type Panel, rectangle, roundRectangle } from './posterDrawing.view.js';
import { type Weight, widthOf } from './posterFonts.rules.js';
import { type Box, linesOf } from './posterLines.rules.js';

export interface PosterContent {
  url: string;
  /** Whose card it is. */
  name: string;
  /** What it brings. */
  headline: string;
  /** More of it, a line each. */
  lines: string[];
  scan: string;
  address: string;
  fold: string;
  paper: string;
  ink: string;
  label: string;
  logo?: { png: Buffer; width: number; height: number } | undefined;
}

const dark = '#18181b';
const soft = '#71717a';
const millimetre = 72 / 25.4;
const leading = 1.18;

interface Block {
  height: number;
  /** Its marks below `y`, from `x`, centred in `width` or not. */
  at: (y: number) => Mark[];
}

interface Place {
  x: number;
  width: number;
  isCentred: boolean;
}

function textBlock(text: string, { x, width, isCentred }: Place, fill: string, box: Omit<Box, 'width'>): Block {
  const { size, lines } = linesOf(text, { ...box, width });
  const line = (part: string, index: number, y: number): Mark => {
    const left = isCentred ? x + (width - widthOf(part, box.weight) * size) / 2 : x;
    return {
      kind: 'text',
      x: left,
      y: y + size * (0.95 + index * leading),
      size,
      weight: box.weight,
      fill,
      text: part,
    };
  };
  return {
    height: lines.length === 0 ? 0 : size * leading * lines.length,
    at: (y) => lines.map((part, index) => line(part, index, y)),
  };
}

/** The same, smaller where it would be higher than there is room. */
function blockWithin(room: number, ...[text, place, fill, box]: Parameters<typeof textBlock>): Block {
  const block = textBlock(text, place, fill, box);
  const isSmall = box.size < 1;
  if (block.height <= room || isSmall) return block;
  return blockWithin(room, text, place, fill, {
    ...box,
    size: box.size * 0.92,
    least: Math.min(box.least, box.size * 0.92),
  });
}

function logoBlock({ logo }: PosterContent, { x, width, isCentred }: Place, tallest: number): Block {
  if (!logo) return { height: 0, at: () => [] };
  const scale = Math.min(tallest / logo.height, width / logo.width);
  const [w, h] = [logo.width * scale, logo.height * scale];
  const left = isCentred ? x + (width - w) / 2 : x;
  return { height: h, at: (y) => [{ kind: 'picture', x: left, y, width: w, height: h, png: logo.png }] };
}

/** The modules of a row that touch are one rectangle, so that no printer leaves a gap between them. */
function qrPath(text: string, x: number, y: number, side: number): string {
  const { data, size } = encode(text, { border: 0, ecc: 'M' });
  const unit = side / size;
  return data
    .flatMap((row, line) => {
      const starts = row.flatMap((isDark, at) => (isDark && !row[at - 1] ? [at] : []));
      return starts.map((start) => {
        const end = row.indexOf(false, start);
        const length = (end < 0 ? size : end) - start;
        return rectangle(x + start * unit, y + line * unit, length * unit, unit);
      });
    })
    .join('');
}

/** The code on white with a quiet zone around it, and below it what to do. */
function codePanel({ url, scan }: PosterContent, x: number, y: number, side: number, height: number): Mark[] {
  const room = side * 0.11;
  const code = side - 2 * room;
  const place = { x: x + room / 2, width: side - room, isCentred: true };
  const box = { weight: 'bold', size: side * 0.068, least: side * 0.045, lines: 2 } as const;
  const words = textBlock(scan, place, dark, box);
  const below = height - room - code;
  return [
    { kind: 'path', d: roundRectangle(x, y, side, height, side * 0.07), fill: '#ffffff' },
    { kind: 'path', d: qrPath(url, x + room, y + room, code), fill: '#000000' },
    ...words.at(y + room + code + (below - words.height) / 2),
  ];
}

const codePanelHeight = (side: number): number => side * 1.17;

/** Two large circles, hardly to be seen, so that the ground is not one plain surface. */
function ground({ paper, ink }: PosterContent, width: number, height: number): Mark[] {
  const fill = mixed(paper, ink, 0.05);
  const [short, long] = [Math.min(width, height) * 0.42, Math.min(width, height) * 0.5];
  return [
    { kind: 'path', d: rectangle(0, 0, width, height), fill: paper },
    { kind: 'path', d: circle(width * 0.96, height * 0.04, short), fill },
    { kind: 'path', d: circle(width * 0.02, height * 0.98, long), fill },
  ];
}

const bold = { weight: 'bold' } satisfies { weight: Weight };
const regular = { weight: 'regular' } satisfies { weight: Weight };

function portrait(content: PosterContent, width: number, height: number): Panel {
  const unit = width / 595;
  const margin = 50 * unit;
  const place = { x: margin, width: width - 2 * margin, isCentred: true };
  const { name, headline, lines, address, ink, label, logo } = content;
  const size = (most: number, least: number, count: number) => ({
    size: most * unit,
    least: least * unit,
    lines: count,
  });
  const blocks = {
    logo: logoBlock(content, { ...place, x: width / 2 - 150 * unit, width: 300 * unit }, 84 * unit),
    name: textBlock(name, place, label, { ...bold, ...size(logo ? 22 : 34, 15, 2) }),
    headline: textBlock(headline, place, ink, { ...bold, ...size(46, 22, 3) }),
    lines: lines.map((line) => textBlock(line, place, ink, { ...regular, ...size(17, 11, 2) })),
    address: textBlock(address, place, label, { ...regular, ...size(12.5, 7, 2) }),
  };
  const gap = 24 * unit;
  const isLogo = blocks.logo.height > 0;
  const above = blocks.logo.height + (isLogo ? gap / 2 : 0) + blocks.name.height + gap + blocks.headline.height;
  const below = blocks.lines.reduce((sum, block) => sum + block.height + 3 * unit, 0);
  const room = height - 2 * margin - above - below - blocks.address.height - 3 * gap;
  const side = Math.min(330 * unit, room / codePanelHeight(1));
  const spare = Math.max(0, room - codePanelHeight(side)) / 3;
  const marks = ground(content, width, height);
  let y = margin;
  const put = (block: Block, after: number) => {
    marks.push(...block.at(y));
    y += block.height + after;
  };
  put(blocks.logo, isLogo ? gap / 2 : 0);
  put(blocks.name, gap + spare / 2);
  put(blocks.headline, gap + spare / 2);
  marks.push(...codePanel(content, (width - side) / 2, y, side, codePanelHeight(side)));
  y += codePanelHeight(side) + gap + spare / 2;
  for (const line of blocks.lines) put(line, 3 * unit);
  marks.push(...blocks.address.at(height - margin - blocks.address.height));
  return { x: 0, y: 0, width, height, marks };
}

/** One side of a tent: the code on the left, the words on the right. */
function face(content: PosterContent, width: number, height: number): Mark[] {
  const margin = height * 0.09;
  const panelHeight = height - 2 * margin;
  const side = panelHeight / codePanelHeight(1);
  const x = margin * 2 + side;
  const place = { x, width: width - x - margin * 1.2, isCentred: false };
  const { name, headline, lines, address, ink, label, logo } = content;
  const top: Block[] = [
    logoBlock(content, place, height * 0.17),
    textBlock(name, place, label, { ...bold, size: logo ? 14 : 20, least: 10, lines: 2 }),
  ];
  const small = lines.map((line) => textBlock(line, place, ink, { ...regular, size: 11, least: 8, lines: 2 }));
  const last = textBlock(address, place, label, { ...regular, size: 8.5, least: 6, lines: 2 });
  const marks = [...ground(content, width, height), ...codePanel(content, margin, margin, side, panelHeight)];
  let y = margin;
  for (const block of top) {
    marks.push(...block.at(y));
    y += block.height > 0 ? block.height + 6 : 0;
  }
  const bottom = small.reduce((sum, block) => sum + block.height + 2, last.height + 8);
  const room = height - margin - y - bottom;
  const big = blockWithin(room, headline, place, ink, { ...bold, size: 32, least: 13, lines: logo ? 3 : 4 });
  marks.push(...big.at(y + (room - big.height) / 2));
  y = height - margin - bottom;
  for (const block of small) {
    marks.push(...block.at(y));
    y += block.height + 2;
  }
  return [...marks, ...last.at(height - margin - last.height)];
}

const dash = 6;
function foldLine(y: number, width: number, fill: string): Mark {
  const count = Math.floor(width / (2 * dash));
  const dashes = Array.from({ length: count }, (_, index) => rectangle(dash * (2 * index + 0.5), y - 0.25, dash, 0.5));
  return { kind: 'path', d: dashes.join(''), fill };
}

/** From the top: a strip to glue, a face upside down, a face, and the base. */
const strips = { glue: 15 * millimetre, face: 110 * millimetre, base: 62 * millimetre };

function tent(content: PosterContent, width: number, height: number): Panel[] {
  const marks = face(content, width, strips.face);
  const second = strips.glue + strips.face;
  const base = second + strips.face;
  const place = { x: 40, width: width - 80, isCentred: true };
  const words = textBlock(content.fold, place, soft, { ...regular, size: 10, least: 7, lines: 3 });
  const lines = [
    foldLine(strips.glue, width, soft),
    foldLine(second, width, mixed(content.paper, content.ink, 0.55)),
    foldLine(base, width, soft),
    ...words.at(base + (strips.base - words.height) / 2),
  ];
  return [
    { x: 0, y: strips.glue, width, height: strips.face, turned: true, marks },
    { x: 0, y: second, width, height: strips.face, marks },
    { x: 0, y: 0, width, height, marks: lines },
  ];
}

const sheets: Record<PosterFormat, { width: number; height: number }> = {
  a4: { width: 210 * millimetre, height: 297 * millimetre },
  a5: { width: 148 * millimetre, height: 210 * millimetre },
  tent: { width: 210 * millimetre, height: 297 * millimetre },
};

export function sheetOf(format: PosterFormat, content: PosterContent) {
  const { width, height } = sheets[format];
  const panels = format === 'tent' ? tent(content, width, height) : [portrait(content, width, height)];
  return { width, height, panels };
}
