// Texts that people and merchants write, for property tests.
import fc from 'fast-check';
import type { z } from 'zod';
import { nameText } from '../../../schemas/shared/text.js';

/** Texts in which programs were found to fail. */
const oddTexts = [
  ...[
    'Ada',
    "O'Brien",
    'Łukasz Żółć',
    'محمد علي',
    'שלום',
    '李小龍',
    '👩‍👩‍👧‍👦',
    '🇩🇪',
    'Z͑͊͐a',
    'e\u0301',
    '\u200eA',
    'A\u200bB',
  ],
  ...[
    '%@',
    '%1$@',
    '<b>&amp;</b>',
    '"quoted" \\ end\\',
    "'; --",
    '{{x}}',
    'a  b',
    '*/',
    '";',
    '\\u0041',
    'https://a.example',
  ],
  ...[
    '0',
    '-0',
    '1e3',
    'true',
    'null',
    '2026-01-01T00:00:00Z',
    '__proto__',
    'constructor',
    'toString',
    'MEMBER',
    'Gold',
    'Coffee',
  ],
];

export const taken = <T extends z.ZodType<string>>(schema: T, given: fc.Arbitrary<string>) =>
  given.filter((value) => schema.safeParse(value).success);

/** Texts that `schema` takes, of up to `max` characters. */
export function texts(schema: z.ZodType<string>, max: number): fc.Arbitrary<string> {
  return taken(
    schema,
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...oddTexts) },
      { weight: 2, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: Math.min(max, 40) }) },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          'W'.repeat(max),
          '👨‍👩‍👧'.repeat(Math.min(max, 100)),
          'long words '.repeat(max).slice(0, max),
        ),
      },
    ),
  );
}
export const names = (max: number) => texts(nameText(max), max);
