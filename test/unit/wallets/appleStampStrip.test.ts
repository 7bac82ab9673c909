// The strip must show as many filled stamps as the customer has.
import { inflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { defaultIcon, drawStrip, stripEnds, stripStep } from '../../../activities/wallets/apple/stampStrip.view.js';
import { readPng } from '../../../schemas/programs/png.rules.js';

const COLORS = { paper: '#14532d', ink: '#ffffff' };

/**
 * The amount of ink in a picture of this project, in whole pixels. Its pixels are in the only IDAT chunk, after IHDR
 * and a PLTE of 16 colours.
 */
function inkOf(png: Buffer): number {
  const idat = 8 + 25 + 60;
  const rows = inflateSync(png.subarray(idat + 8, idat + 8 + png.readUInt32BE(idat)));
  const reading = readPng(png);
  if (!reading.ok) throw new Error(reading.problem);
  const stride = rows.length / reading.height;
  let ink = 0;
  for (const [at, byte] of rows.entries()) {
    if (at % stride !== 0) ink += (byte >> 4) + (byte & 15);
  }
  return ink / 15;
}

function strips(goal: number): Buffer[] {
  const ends = stripEnds(goal);
  return Array.from({ length: goal + 1 }, (_, balance) => {
    const [, twoX] = drawStrip(ends, { goal, step: stripStep(goal, balance), colors: COLORS });
    return twoX?.[1] ?? Buffer.alloc(0);
  });
}

describe('the strip of a stamp card', () => {
  it.each([1, 2, 5, 8, 10, 12, 17, 30])('fills exactly one more of %i circles with each stamp', (goal) => {
    const ink = strips(goal).map(inkOf);
    const steps = ink.slice(1).map((now, index) => now - (ink[index] ?? 0));
    const oneStamp = steps[0] ?? 0;
    expect(oneStamp).toBeGreaterThan(100);
    for (const step of steps) expect(step).toBeCloseTo(oneStamp, 0);
  });

  it('shows a bar that only grows when there would be too many circles', () => {
    const ink = strips(100).map(inkOf);
    expect(ink.toSorted((a, b) => a - b)).toEqual(ink);
    expect(ink.at(-1)).toBeGreaterThan((ink[0] ?? 0) * 3);
  });

  it('has three sizes that are valid PNGs, full or empty, for any balance', () => {
    for (const balance of [-1, 0, 10, 11, 2 ** 53]) {
      const pictures = drawStrip(stripEnds(10), { goal: 10, step: stripStep(10, balance), colors: COLORS });
      expect(pictures.map(([name]) => name)).toEqual(['strip.png', 'strip@2x.png', 'strip@3x.png']);
      expect(pictures.map(([, png]) => readPng(png))).toMatchObject(
        [1, 2, 3].map((scale) => ({ ok: true, width: 375 * scale, height: 144 * scale })),
      );
    }
  });

  it('has the colours of its template', () => {
    const [[, png] = ['', Buffer.alloc(0)]] = drawStrip(stripEnds(5), { goal: 5, step: 2, colors: COLORS });
    expect(png.subarray(41, 44).toString('hex')).toBe('14532d');
    expect(png.subarray(41 + 45, 41 + 48).toString('hex')).toBe('ffffff');
  });
});

describe('the icon of a program without one', () => {
  it('has the three sizes of a phone', () => {
    expect(defaultIcon(COLORS).map(([name, png]) => [name, readPng(png)])).toMatchObject([
      ['icon.png', { width: 38, height: 38 }],
      ['icon@2x.png', { width: 76, height: 76 }],
      ['icon@3x.png', { width: 114, height: 114 }],
    ]);
  });
});
