// Draws the images of a pass whose program has none: 16 shades between two colours, on a canvas of whole pixels,
// written as a palette PNG. The images are small enough to be drawn between two requests.

import { crc32, deflateSync } from 'node:zlib';
import { rgb } from '../../../schemas/programs/contrast.rules.js';

const MAX_INK = 15;

/**
 * Four bits for each pixel, two pixels in each byte. PNG requires one more byte before each row. 0 is paper, MAX_INK is
 * ink, and the values between them are smooth edges. Drawing copies whole bytes, so everything starts at an even
 * column.
 */
export interface Canvas {
  width: number;
  height: number;
  /** Bytes in each row. */
  stride: number;
  rows: Buffer;
}

export function canvas(width: number, height: number): Canvas {
  const stride = 1 + Math.ceil(width / 2);
  return { width, height, stride, rows: Buffer.alloc(stride * height) };
}

/** Draws a ring (a disc when the inner radius is 0) on a square canvas of its own. */
export function ring(outerRadius: number, innerRadius: number): Canvas {
  const side = Math.ceil(outerRadius) * 2;
  const tile = canvas(side, side);
  const center = (side - 1) / 2;
  const ink = (x: number, y: number) => {
    const distance = Math.hypot(x - center, y - center);
    const inside = Math.min(1, Math.max(0, outerRadius - distance));
    const outside = innerRadius === 0 ? 1 : Math.min(1, Math.max(0, distance - innerRadius));
    return Math.round(Math.min(inside, outside) * MAX_INK);
  };
  for (let y = 0; y < side; y += 1) {
    for (let x = 0; x < side; x += 2) {
      tile.rows[y * tile.stride + 1 + x / 2] = (ink(x, y) << 4) | ink(x + 1, y);
    }
  }
  return tile;
}

/** Copies a tile onto a canvas, at the even column nearest to `left`. The tile must fit. */
export function stamp(onto: Canvas, tile: Canvas, left: number, top: number): void {
  const column = 1 + Math.round(left / 2);
  for (let y = 0; y < tile.height; y += 1) {
    const row = y * tile.stride + 1;
    tile.rows.copy(onto.rows, (top + y) * onto.stride + column, row, row + tile.stride - 1);
  }
}

export function copyOf(picture: Canvas): Canvas {
  return { ...picture, rows: Buffer.from(picture.rows) };
}

/** Copies from a canvas of the same size everything left of `right`, which is rounded to an even column. */
export function copyLeft(
  onto: Canvas,
  from: Canvas,
  { top, height, right }: { top: number; height: number; right: number },
): void {
  const bytes = Math.min(1 + Math.round(right / 2), from.stride);
  const [copies, length] = bytes === from.stride ? [1, height * bytes] : [height, bytes];
  for (let index = 0; index < copies; index += 1) {
    const start = (top + index) * from.stride;
    from.rows.copy(onto.rows, start, start, start + length);
  }
}

/** `left` and `width` are rounded to even columns. */
export function fillRectangle(onto: Canvas, left: number, top: number, width: number, height: number): void {
  for (let y = top; y < top + height; y += 1) {
    const start = y * onto.stride + 1 + Math.round(left / 2);
    onto.rows.fill(0xff, start, start + Math.round(width / 2));
  }
}

/** `paper` and `ink` have the form `#rrggbb`. */
export function encodePng(picture: Canvas, colors: { paper: string; ink: string }): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(picture.width, 0);
  header.writeUInt32BE(picture.height, 4);
  header.set([4, 3, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('PLTE', palette(colors.paper, colors.ink)),
    chunk('IDAT', deflateSync(picture.rows, { level: 2 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function palette(paper: string, ink: string): Buffer {
  const from = rgb(paper);
  const to = rgb(ink);
  const steps = Array.from({ length: MAX_INK + 1 }, (_, step) =>
    from.map((channel, index) => Math.round(channel + (((to[index] ?? channel) - channel) * step) / MAX_INK)),
  );
  return Buffer.from(steps.flat());
}

function chunk(type: string, body: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), body]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(body.length, 0);
  framed.set(typed, 4);
  framed.writeUInt32BE(crc32(typed), typed.length + 4);
  return framed;
}
