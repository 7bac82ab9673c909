// Contrast as WCAG 2.2 defines it.
import { expect, it } from 'vitest';
import { contrastOf } from '../../../schemas/programs/contrast.rules.js';

it.each([
  ['#000000', '#ffffff', 21],
  ['#ffffff', '#ffffff', 1],
  ['#777777', '#ffffff', 4.48],
  ['#ff0000', '#ffffff', 4],
])('%s on %s is %f', (one, other, expected) => {
  expect(contrastOf(one, other)).toBeCloseTo(expected, 2);
  expect(contrastOf(other, one)).toBeCloseTo(expected, 2);
});
