// What a drawn poster consists of. Both files are made of it: the PDF and the PNG.
import type { Weight } from './posterFonts.rules.js';

export type Mark =
  /** A filled path, in the form of SVG. */
  | { kind: 'path'; d: string; fill: string }
  /** `x` is the left end, `y` the line that the letters stand on. */
  | { kind: 'text'; x: number; y: number; size: number; weight: Weight; fill: string; text: string }
  | { kind: 'picture'; x: number; y: number; width: number; height: number; png: Buffer };

/** A part of the sheet; its marks count from its own corner. */
export interface Panel {
  x: number;
  y: number;
  width: number;
  height: number;
  /** Upside down, as one side of a tent is printed. */
  turned?: boolean;
  marks: Mark[];
}

/** In points, of which an inch has 72. */
export interface Drawing {
  title: string;
  language: string;
  width: number;
  height: number;
  panels: Panel[];
}

export const rectangle = (x: number, y: number, width: number, height: number): string =>
  `M${x} ${y}h${width}v${height}h${-width}z`;

export function roundRectangle(x: number, y: number, width: number, height: number, r: number): string {
  const [w, h] = [width - 2 * r, height - 2 * r];
  const arc = (dx: number, dy: number) => `a${r} ${r} 0 0 1 ${dx} ${dy}`;
  return `M${x + r} ${y}h${w}${arc(r, r)}v${h}${arc(-r, r)}h${-w}${arc(-r, -r)}v${-h}${arc(r, -r)}z`;
}

export const circle = (x: number, y: number, r: number): string =>
  `M${x - r} ${y}a${r} ${r} 0 1 1 ${2 * r} 0a${r} ${r} 0 1 1 ${-2 * r} 0z`;
