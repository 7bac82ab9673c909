// Contrast as WCAG 2.2 defines it.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { contrastOf, mixed, readableOn } from '../../../schemas/programs/contrast.rules.js';

it.each([
  ['#000000', '#ffffff', 21],
  ['#ffffff', '#ffffff', 1],
  ['#777777', '#ffffff', 4.48],
  ['#ff0000', '#ffffff', 4],
])('%s on %s is %f', (one, other, expected) => {
  expect(contrastOf(one, other)).toBeCloseTo(expected, 2);
  expect(contrastOf(other, one)).toBeCloseTo(expected, 2);
});

const colour = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);

it('a colour that cannot be read on its background becomes black or white, and any other stays', () => {
  fc.assert(
    fc.property(colour, colour, (background, wanted) => {
      const shown = readableOn(background, wanted);
      expect(contrastOf(background, shown)).toBeGreaterThanOrEqual(4.5);
      if (contrastOf(background, wanted) >= 4.5) expect(shown).toBe(wanted);
    }),
  );
});

it('a mixture of colours has the first at 0, the second at 1, and lies between them', () => {
  fc.assert(
    fc.property(colour, colour, (one, other) => {
      expect([mixed(one, other, 0), mixed(one, other, 1)]).toEqual([one, other]);
    }),
  );
  expect(mixed('#000000', '#ffffff', 0.5)).toBe('#808080');
});
