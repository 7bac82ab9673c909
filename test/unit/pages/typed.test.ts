// What people type in the console: whole numbers and the length of a text.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { text } from '../../../schemas/shared/text.js';

// The console is compiled by itself, so its modules have no types here.
const module = '../../../console/typed.js';
interface Typed {
  wholeNumber: (given: string) => number | undefined;
  charactersOf: (given: string) => number;
}
const { wholeNumber, charactersOf }: Typed = await import(module);

it('reads whole numbers', () => {
  fc.assert(
    fc.property(fc.integer(), fc.constantFrom('', ' '), (value, space) => {
      expect(wholeNumber(`${space}${value}${space}`)).toBe(value);
    }),
  );
  expect(wholeNumber('+15')).toBe(15);
});

it.each(['1.000', '1,000', '1.5', '12,50', "1'000", '1 000', '1e3', '0x10', '', ' ', '-', 'ten', '١٢'])(
  'takes %j for no number, because it may be another one',
  (given) => expect(wholeNumber(given)).toBeUndefined(),
);

it('counts the characters of a text as the service does', () => {
  const parts = fc.constantFrom('a', 'é', 'e\u0301', '👨‍👩‍👧', '🇩🇪', '👍🏽', 'ß', '漢', ' a', 'क्षि');
  fc.assert(
    fc.property(fc.array(parts, { minLength: 1, maxLength: 60 }), (given) => {
      const message = given.join('').trim();
      const limit = charactersOf(message);
      expect(text(1, limit).safeParse(message).success).toBe(true);
      if (limit > 1) expect(text(1, limit - 1).safeParse(message).success).toBe(false);
    }),
  );
});
