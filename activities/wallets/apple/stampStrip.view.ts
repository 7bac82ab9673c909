// Draws the images for programs that have none: the icon, and the strip on which stamps fill. A strip shows as many
// filled circles as the member has stamps, up to the goal. When the goal exceeds MAX_CIRCLES, the strip shows a bar
// instead.
import { type Canvas, canvas, copyLeft, copyOf, encodePng, fillRectangle, ring, stamp } from './drawing.rules.js';

export interface StripColors {
  paper: string;
  ink: string;
}

const SCALES = [1, 2, 3] as const;
const MAX_CIRCLES = 30;
/** The strip and icon of a store card in points; a size in pixels is this times the scale of the screen. */
const STRIP = { width: 375, height: 144, margin: 14 };
const ICON = 38;
const BAR = { height: 28, border: 2, steps: 40 };

/** File name of an image for a screen scale: `strip.png`, `strip@2x.png`, `strip@3x.png`. */
export function scaledName(name: string, scale: number): string {
  return scale === 1 ? `${name}.png` : `${name}@${scale}x.png`;
}

type Picture = readonly [fileName: string, png: Buffer];

export function defaultIcon(colors: StripColors): Picture[] {
  return SCALES.map((scale) => {
    const icon = canvas(ICON * scale, ICON * scale);
    for (const tile of [ring(15 * scale, 11.5 * scale), ring(7 * scale, 0)]) {
      stamp(icon, tile, Math.floor((icon.width - tile.width) / 2), Math.floor((icon.height - tile.height) / 2));
    }
    return [scaledName('icon', scale), encodePng(icon, colors)];
  });
}

/**
 * Returns the number of the strip that a balance shows: stamps up to the goal, or 0 to 40 for a bar. Equal numbers are
 * equal images.
 */
export function stripStep(goal: number, balance: number): number {
  const shown = Math.min(Math.max(balance, 0), goal);
  return goal <= MAX_CIRCLES ? shown : Math.floor((shown / goal) * BAR.steps);
}

/** The empty and the full strip of a goal at each scale, from which every other strip is composed. */
export type StripEnds = readonly { scale: number; empty: Canvas; full: Canvas }[];

/** Called once for each template, because drawing takes longer than copying. */
export function stripEnds(goal: number): StripEnds {
  return SCALES.map((scale) => {
    if (goal > MAX_CIRCLES) return { scale, empty: bar(scale, 0), full: bar(scale, 1) };
    const radius = layout(goal).cell * scale * 0.4;
    const outline = ring(radius, radius - Math.max(1.5 * scale, radius * 0.09));
    return { scale, empty: circles(scale, goal, outline), full: circles(scale, goal, ring(radius, 0)) };
  });
}

/** Draws the strip of a step (see `stripStep`) at three scales. */
export function drawStrip(ends: StripEnds, shown: { goal: number; step: number; colors: StripColors }): Picture[] {
  return ends.map(({ scale, empty, full }) => {
    const strip = copyOf(empty);
    for (const part of filledParts(scale, shown)) copyLeft(strip, full, part);
    return [scaledName('strip', scale), encodePng(strip, shown.colors)];
  });
}

/** In points: circles stand in rows of nearly equal length, each in a square cell, centred on the strip. */
function layout(goal: number): { columns: number; rows: number; cell: number } {
  const rows = Math.min(3, Math.ceil(goal / 5));
  const columns = Math.ceil(goal / rows);
  const cell = Math.min((STRIP.width - 2 * STRIP.margin) / columns, (STRIP.height - 2 * STRIP.margin) / rows);
  return { columns, rows, cell: Math.floor(cell) };
}

/** In pixels: where the cells of each row of circles begin. */
function rowsOf(scale: number, goal: number): { side: number; top: number; left: number; count: number }[] {
  const { columns, rows, cell } = layout(goal);
  const side = cell * scale;
  return Array.from({ length: rows }, (_, row) => {
    const count = Math.min(columns, goal - row * columns);
    return {
      side,
      top: (STRIP.height * scale - rows * side) / 2 + row * side,
      left: (STRIP.width * scale - count * side) / 2,
      count,
    };
  });
}

function circles(scale: number, goal: number, tile: Canvas): Canvas {
  const strip = canvas(STRIP.width * scale, STRIP.height * scale);
  for (const { side, top, left, count } of rowsOf(scale, goal)) {
    const inset = (side - tile.width) / 2;
    for (let index = 0; index < count; index += 1) {
      stamp(strip, tile, Math.round(left + index * side + inset), Math.round(top + inset));
    }
  }
  return strip;
}

/** In pixels, including the border. */
function barAt(scale: number): { left: number; top: number; width: number; height: number } {
  const left = STRIP.margin * scale;
  const height = BAR.height * scale;
  return { left, top: Math.round((STRIP.height * scale - height) / 2), width: STRIP.width * scale - 2 * left, height };
}

function bar(scale: number, filled: 0 | 1): Canvas {
  const strip = canvas(STRIP.width * scale, STRIP.height * scale);
  const { left, top, width, height } = barAt(scale);
  const border = BAR.border * scale;
  fillRectangle(strip, left, top, width, border);
  fillRectangle(strip, left, top + height - border, width, border);
  fillRectangle(strip, left, top, border, height);
  fillRectangle(strip, left + width - border, top, border, height);
  fillRectangle(strip, left, top, width * filled, height);
  return strip;
}

/** In pixels: the parts of the strip, each up to its `right`, that come from the full strip. */
function filledParts(
  scale: number,
  { goal, step }: { goal: number; step: number },
): { top: number; height: number; right: number }[] {
  if (goal > MAX_CIRCLES) {
    const { left, top, width, height } = barAt(scale);
    return step === 0 ? [] : [{ top, height, right: left + (width * step) / BAR.steps }];
  }
  let stamps = step;
  return rowsOf(scale, goal).flatMap(({ side, top, left, count }) => {
    const filled = Math.min(stamps, count);
    stamps -= filled;
    const right = filled === count ? STRIP.width * scale : left + filled * side;
    return filled === 0 ? [] : [{ top: Math.floor(top), height: side, right }];
  });
}
