// The normal forms in which names, phone numbers and codes are compared, in whichever way they are written.

import { digitsOf, extension, withPlainDigits, writtenPhone } from '../shared/phone.rules.js';

/** For shortcuts: most words are of this kind, and imports normalise many. */
const isAscii = (value: string): boolean => /^[ -~]*$/.test(value);

/** Transliterations of letters that are no marked form of another letter. */
const letters: Record<string, string> = {
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  æ: 'ae',
  œ: 'oe',
  ß: 'ss',
  ı: 'i',
  ς: 'σ',
};

/**
 * Lower case without accents, apostrophes, invisible characters and white space: "Łucja" and "lucja", "O'Brien" and
 * "obrien" become the same. Free-standing accents vanish too.
 */
export function fold(value: string): string {
  if (isAscii(value)) return value.replace(/['`\s]+/g, '').toLowerCase();
  return withPlainDigits(value.normalize('NFKD'))
    .replace(/[\p{M}\p{Cf}'’‘‛ʼʻ`´′\s]+/gu, '')
    .toLowerCase()
    .replace(/[łøđðþæœßıς]/g, (letter) => letters[letter] ?? letter);
}

/** "ä" as "ae", "å" as "aa", "ø" as "oe", and likewise "ö" and "ü". */
const expand = (value: string): string =>
  value
    .normalize('NFKD')
    .toLowerCase()
    .replace(/([aou])\u0308/g, '$1e')
    .replace(/a\u030a/g, 'aa')
    .replace(/ø/g, 'oe');

/** What ends or joins the parts of a compound: punctuation, the minus sign, and accents that serve as apostrophes. */
const separators = /[\p{P}\p{Sk}\u2212\u02bb\u02bc]+/u;

const split = (word: string): string[] => word.split(separators).filter(Boolean);

/** The word without hyphens, apostrophes and blanks; as it is when nothing else is in it. */
export const withoutSeparators = (word: string): string => word.split(/\s+/).flatMap(split).join('') || word;

const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/** The parts of a compound word: between separators, and in scripts without blanks the words of UAX #29. */
export const partsOf = (word: string): string[] =>
  split(word).flatMap((part) =>
    /^[\p{Script=Latin}\p{M}\p{N}]+$/u.test(part)
      ? [part]
      : [...segmenter.segment(part.normalize('NFKC'))].flatMap(({ segment, isWordLike }) =>
          isWordLike ? [segment] : [],
        ),
  );

export interface Spellings {
  /** Umlauts as their base letters. */
  plain: string;
  /** Umlauts in two letters. */
  expanded: string;
  /**
   * The same for a word with umlauts, with base letters and with two letters. "Joe" becomes "jo", so it is compared
   * only as a whole: as a prefix it would find John.
   */
  bare: string;
}

/** The spellings of a word without its separators. */
export function spell(word: string): Spellings {
  const joined = withoutSeparators(word);
  const plain = fold(joined);
  return {
    plain,
    expanded: isAscii(joined) ? plain : fold(expand(joined)),
    bare: plain.replace(/a[ae]+/g, 'a').replace(/([ou])e+/g, '$1'),
  };
}

/** Whether the text has only digits and what stands between the digits of a phone number. */
export const isOfNumber = (text: string): boolean => /^[+~\d\p{P}\s]+$/u.test(writtenPhone(text));

export const isNumber = (text: string): boolean => isOfNumber(text) && /\p{Nd}/u.test(text);

/** All digits but those of an extension. International numbers have no trunk zero in brackets: +44 (0)20. */
function allDigits(value: string): { all: string; isInternational: boolean } {
  const text = writtenPhone(value).replace(extension, '');
  const isInternational = /^[^+\d]*(\+|00)/.test(text);
  const main = isInternational ? text.replace(/^(\D*(?:00\D*)?(?:\d\D*?){1,3})\(0\)/, '$1') : text;
  return { all: digitsOf(main), isInternational };
}

/** The form in which phone numbers are compared: the digits, without the 00 of an international number. */
export function digits(value: string): string {
  const { all, isInternational } = allDigits(value);
  return isInternational ? all.replace(/^00/, '') : all;
}

const minEnding = 4;

/** The search word of the end of a number: the digits backwards, after a blank, which no other search word has. */
const ending = (number: string): string => ` ${Array.from(number).reverse().join('')}`;

/** The search words by which a phone number is found: by its beginning and by its end. */
export function phoneWords(phone = ''): string[] {
  const number = digits(phone);
  return number.length < minEnding ? [number] : [number, ending(number)];
}

/** Without its trunk zero a national number is the end of the international one. */
const minNational = 6;
const countryCodeLengths = [1, 2, 3];

/** What a number in a query finds: codes and phone numbers that begin with it, phone numbers that end with it. */
export function numberForms(typed: string): { prefixes: string[]; whole: string[] } {
  const { all, isInternational } = allDigits(typed);
  const number = digits(typed);
  const national = all.replace(/^0+/, '');
  const ends = isInternational ? [all] : [all, ...(national.length < minNational ? [] : [national])];
  // The number may be stored as it is dialled within its country, whose code has one to three digits.
  const within = isInternational ? countryCodeLengths.map((length) => number.slice(length)) : [];
  return {
    prefixes: [
      all,
      ...(number.length >= minNational ? [number] : []),
      fold(typed),
      ...ends.filter(({ length }) => length >= minEnding).map(ending),
    ],
    whole: within.filter(({ length }) => length >= minNational).flatMap((rest) => [rest, `0${rest}`]),
  };
}
