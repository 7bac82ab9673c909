// Text from clients is stored in Unicode's NFC and otherwise unchanged. Text that a screen, a log line or a CSV cell
// cannot hold is refused: control characters (line breaks and tabs too), lone surrogates, and text of which nothing is
// visible. Lengths count characters as people do: grapheme clusters of UAX #29 (docs/interface.md#14-requests).
import { z } from 'zod';
import { lowerUuid } from './ids.js';
import './mistakes.rules.js';

// Classes of characters, for the inside of regular expressions.
const controls = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029';
/** Embeddings, overrides and isolates, which change the order of the text around them. */
const bidiControls = '\\u202a-\\u202e\\u2066-\\u2069';
/** All of `controls` but the tab and the line breaks. */
const proseControls = '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f';

const message = 'must not contain control characters or broken Unicode';

/** A string without lone surrogates, which are no Unicode text and which MongoDB would store as something else. */
export const wellFormed = () => z.string().refine((value) => value.isWellFormed(), message);

const without = (refused: string): RegExp => new RegExp(`^[^${refused}]*$`);

/** For fields that transform their input afterwards. The pattern also appears in the OpenAPI document. */
export const plainText = () => wellFormed().regex(without(controls), message);

const segmenter = new Intl.Segmenter('en');

/** The first characters of a text; none of them is cut. */
export function firstCharacters(value: string, count: number): string {
  if (value.length <= count) return value;
  let taken = 0;
  for (const { index } of segmenter.segment(value)) {
    if (taken === count) return value.slice(0, index);
    taken += 1;
  }
  return value;
}

/** The code of a mistake that is said in other words elsewhere, such as of a row of an import. */
const atMost = (max: number) => ({
  error: `must have at most ${max} characters`,
  params: { rule: 'tooLong', limit: max },
});

const isLonger = (value: string, count: number): boolean => firstCharacters(value, count) !== value;

/** A character may have any number of marks; this many code units are enough for an emoji of a family. */
const unitsOfCharacter = 16;

/** Blank, or a mark that has nothing below it. U+2800 and U+1D159 are symbols without ink. */
const invisible = /^[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Mn}\p{Me}\u2800\u{1D159}]*$/u;

/** Whether a person sees any of the text. */
const isVisible = (value: string): boolean => !invisible.test(value);

interface Lengths {
  min: number;
  max: number;
}

/** What every text for people obeys. Empty text is accepted where `min` is 0. */
const forPeople = (schema: z.ZodString, { min, max }: Lengths) =>
  schema
    .normalize('NFC')
    .refine((value) => (value === '' && min === 0) || isVisible(value), 'must have a visible character')
    .refine((value) => min <= 1 || isLonger(value, min - 1), `must have at least ${min} characters`)
    .refine((value) => value.length <= max * unitsOfCharacter && !isLonger(value, max), atMost(max))
    .meta({ ...(min > 0 && { minLength: min, not: { pattern: '^\\s*$' } }), maxLength: max });

/** Text of `min` to `max` characters. */
export const text = (min: number, max: number) => forPeople(plainText(), { min, max });

/**
 * Like {@link text}, but white space at both ends is removed before the length is checked. Control characters are
 * refused there too.
 */
export const trimmedText = (min: number, max: number) => forPeople(plainText().trim(), { min, max });

/** Trimmed text that people paste and that is stored as given: line ends and tabs around it are removed too. */
export const pastedText = (min: number, max: number) =>
  wellFormed().trim().regex(without(controls), message).min(min).max(max);

/**
 * A name: trimmed, and without characters that change the order of the text around it. Its length is checked before,
 * as a JSON Schema does.
 */
export const nameText = (max: number, min = 1) => {
  const given = wellFormed()
    .regex(without(controls + bidiControls), `${message}, nor bidirectional controls`)
    .refine((value) => !isLonger(value, max), atMost(max));
  return forPeople(given.trim(), { min, max });
};

/** Text of several lines; tabs and line breaks are allowed. */
export const prose = (max: number) => forPeople(wellFormed().regex(without(proseControls), message), { min: 1, max });

/** The blocks of right-to-left scripts, and their marks. */
const rightToLeft = /[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const anyBidi = new RegExp(`[${bidiControls}]`, 'g');

/**
 * A name for the inside of a sentence: one that is written from right to left does not reorder the words around it
 * (UAX #9, FSI and PDI).
 */
export function isolated(name: string): string {
  const plain = name.replace(anyBidi, '');
  return rightToLeft.test(plain) ? `\u2068${plain}\u2069` : plain;
}

/** The id of something stored: a UUID in any case, or a name. */
export function idText(max = 64) {
  return plainText().min(1).max(max).overwrite(lowerUuid);
}

/**
 * A code that was scanned or typed: after NFKC (full-width digits are digits), without white space, line ends and
 * invisible characters around it.
 */
export const readCode = (given: string): string => given.normalize('NFKC').replace(/^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu, '');

/** The form in which a scan compares a code with member codes, and in lower case with serial numbers. */
export const codeForm = (given: string): string => readCode(given).toUpperCase();

/** A code of at most `max` characters, as it was scanned or typed. */
export const codeText = (max: number) =>
  wellFormed().overwrite(readCode).pipe(text(1, max)).meta({ minLength: 1, maxLength: max });

/** A code that was scanned or typed, as it was given. */
export const scannedText = (max: number) =>
  wellFormed()
    .refine(
      // Nothing visible is a code that no member has.
      (value) => value !== '' && (readCode(value) === '' || codeText(max).safeParse(value).success),
      `must be a code of 1 to ${max} characters`,
    )
    .meta({ minLength: 1, maxLength: max });
