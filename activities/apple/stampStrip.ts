// The pictures that come without a program's help: the icon, and the strip on which stamps fill. A strip shows exactly
// as many filled circles as the member has stamps, up to the goal; past MAX_CIRCLES a bar takes their place.
import { type Canvas, canvas, encodePng, fillRectangle, ring, stamp } from './drawing.js';

export interface StripColors {
  paper: string;
  ink: string;
}

const SCALES = [1, 2, 3] as const;
const MAX_CIRCLES = 30;
/** A store card's strip and icon in points; pixels are these times the screen's scale. */
const STRIP = { width: 375, height: 144, margin: 14 };
const ICON = 29;
const BAR = { height: 28, border: 2, steps: 40 };

/** File name of a picture at a screen's scale: `strip.png`, `strip@2x.png`, `strip@3x.png`. */
export function scaledName(name: string, scale: number): string {
  return scale === 1 ? `${name}.png` : `${name}@${scale}x.png`;
}

type Picture = readonly [fileName: string, png: Buffer];

export function defaultIcon(colors: StripColors): Picture[] {
  return SCALES.map((scale) => {
    const icon = canvas(ICON * scale, ICON * scale);
    for (const tile of [ring(11 * scale, 8.5 * scale), ring(5 * scale, 0)]) {
      stamp(icon, tile, Math.floor((icon.width - tile.width) / 2), Math.floor((icon.height - tile.height) / 2));
    }
    return [scaledName('icon', scale), encodePng(icon, colors)];
  });
}

/** How many distinct strips a goal has, and which of them a balance shows. Equal steps are equal pictures. */
export function stripStep(goal: number, balance: number): number {
  const shown = Math.min(Math.max(balance, 0), goal);
  return goal <= MAX_CIRCLES ? shown : Math.floor((shown / goal) * BAR.steps);
}

/** The strip in three sizes for a step of `stripStep`. Draws with the tiles of `stripTiles`, made once a template. */
export function drawStrip(tiles: StripTiles, goal: number, step: number, colors: StripColors): Picture[] {
  return SCALES.map((scale, index) => {
    const strip = canvas(STRIP.width * scale, STRIP.height * scale);
    const tile = tiles[index];
    if (tile === undefined) drawBar(strip, scale, step);
    else drawCircles(strip, scale, goal, step, tile);
    return [scaledName('strip', scale), encodePng(strip, colors)];
  });
}

export type StripTiles = readonly { filled: Canvas; empty: Canvas }[];

/** The filled and the empty circle at each scale; none when the goal is shown as a bar. */
export function stripTiles(goal: number): StripTiles {
  if (goal > MAX_CIRCLES) return [];
  const { cell } = layout(goal);
  return SCALES.map((scale) => {
    const radius = cell * scale * 0.4;
    return { filled: ring(radius, 0), empty: ring(radius, radius - Math.max(1.5 * scale, radius * 0.09)) };
  });
}

/** In points: circles stand in rows as equal as can be, each in a square cell, the whole in the middle of the strip. */
function layout(goal: number): { columns: number; rows: number; cell: number } {
  const rows = Math.min(3, Math.ceil(goal / 5));
  const columns = Math.ceil(goal / rows);
  const cell = Math.min((STRIP.width - 2 * STRIP.margin) / columns, (STRIP.height - 2 * STRIP.margin) / rows);
  return { columns, rows, cell: Math.floor(cell) };
}

function drawCircles(strip: Canvas, scale: number, goal: number, step: number, tile: StripTiles[number]): void {
  const { columns, rows, cell } = layout(goal);
  const top = (strip.height - rows * cell * scale) / 2;
  for (let index = 0; index < goal; index += 1) {
    const row = Math.floor(index / columns);
    const inRow = Math.min(columns, goal - row * columns);
    const left = (strip.width - inRow * cell * scale) / 2 + (index % columns) * cell * scale;
    const circle = index < step ? tile.filled : tile.empty;
    const inset = (cell * scale - circle.width) / 2;
    stamp(strip, circle, Math.round(left + inset), Math.round(top + row * cell * scale + inset));
  }
}

function drawBar(strip: Canvas, scale: number, step: number): void {
  const left = STRIP.margin * scale;
  const width = strip.width - 2 * left;
  const height = BAR.height * scale;
  const top = Math.round((strip.height - height) / 2);
  const border = BAR.border * scale;
  fillRectangle(strip, left, top, width, border);
  fillRectangle(strip, left, top + height - border, width, border);
  fillRectangle(strip, left, top, border, height);
  fillRectangle(strip, left + width - border, top, border, height);
  fillRectangle(strip, left, top, Math.round((width * step) / BAR.steps), height);
}
