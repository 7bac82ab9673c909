// Moments and days are text with a year of four digits, wherever they come from.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { moment, momentText, utcDay } from '../../../schemas/shared/calendar.rules.js';

const firstMs = Date.parse('0000-01-01');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');

it('a day in UTC is a date in every year', () => {
  fc.assert(
    fc.property(fc.integer({ min: firstMs, max: lastMs }), (at) => {
      const day = utcDay(at);
      expect(z.iso.date().safeParse(day).success).toBe(true);
      expect(Date.parse(day)).toBe(Math.floor(at / 86_400_000) * 86_400_000);
    }),
  );
});

it('a moment that is taken can be answered, and all within the years 0000 to 9999 are taken', () => {
  const minutes = fc.integer({ min: -1_439, max: 1_439 });
  const edges = fc.oneof(
    fc.integer({ min: firstMs - 1e9, max: firstMs + 1e9 }),
    fc.integer({ min: lastMs - 1e9, max: lastMs + 1e9 }),
    fc.integer({ min: firstMs, max: lastMs }),
  );
  fc.assert(
    fc.property(edges, minutes, (at, offset) => {
      const wall = new Date(at + offset * 60_000).toISOString();
      fc.pre(/^\d{4}-/.test(wall));
      const two = (number: number) => String(number).padStart(2, '0');
      const ahead = Math.abs(offset);
      const sign = offset < 0 ? '-' : '+';
      const text = wall.replace('Z', `${sign}${two(Math.floor(ahead / 60))}:${two(ahead % 60)}`);
      expect(momentText.safeParse(text).success).toBe(at >= firstMs && at <= lastMs);
      expect(momentText.safeParse(`${text}!`).error?.issues).toHaveLength(1);
      const { data } = moment.safeParse(text);
      if (data) expect(z.iso.datetime().safeParse(data.toISOString()).success).toBe(true);
    }),
  );
});
