// Phone numbers as people write and copy them: the notations of ITU-T E.123, and what phones, web pages and
// spreadsheets make of them. A member keeps the written form.
import { plainText } from './text.js';

const digit = /^\p{Nd}$/u;

/** The value of a digit of any script: those of a script follow each other in Unicode, from 0 to 9. */
function digitValue(given: string): string {
  const code = given.codePointAt(0) ?? 0;
  let zero = code;
  while (digit.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((code - zero) % 10);
}

export const withPlainDigits = (given: string): string => given.replace(/\p{Nd}/gu, digitValue);

/** The number with ASCII digits, plain hyphens and single spaces, without invisible characters. */
export const writtenPhone = (given: string): string =>
  withPlainDigits(given.normalize('NFKC').replace(/\p{Cf}/gu, ''))
    .replace(/[\p{Pd}\u2043\u2212\u30fc]/gu, '-')
    .replace(/[\u2044\u2215]/g, '/')
    .replace(/[\u00b7\u2022]/g, '.')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^tel[.:] ?/i, '');

const number = /^[([]?[+\d][\d ()[\]./~-]*\d[)\]]?$/;
export const extension = / ?(?:;ext=|ext(?:n|ension)?[.:]?|x[.:]?|#) ?\d{1,9}$/i;
const minLength = 3;
const maxLength = 32;
/** Of a number as it is given, which may have invisible characters. */
const maxGiven = 100;

export const digitsOf = (value: string): string => value.replace(/\D/g, '');

function isPhone(written: string): boolean {
  if (written.length < minLength || written.length > maxLength) return false;
  const main = written.replace(extension, '');
  return number.test(main) && (main === written || digitsOf(main).length >= minLength);
}

export const phone = plainText()
  .max(maxGiven)
  .overwrite(writtenPhone)
  .refine(isPhone, 'must be a phone number')
  .meta({ minLength: 1 });
