// Phone numbers as people write and copy them: the notations of ITU-T E.123, and what phones, web pages and
// spreadsheets make of them. A member keeps the written form, which is shown; numbers are compared in their
// international form, E.164, where the country of the program or the number itself tells it.
import { getCountries, Metadata, type PhoneNumber, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { z } from 'zod';
import { plainText } from './text.js';

export const country = z.enum(getCountries(), 'must be a country code of ISO 3166-1, such as DE');
export type Country = z.infer<typeof country>;

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

/** Whether all numbers of the country have one length, so that a number of this length has its area code. */
function hasOneLength(home: Country): boolean {
  const plans = new Metadata();
  plans.selectNumberingPlan(home);
  return plans.numberingPlan?.possibleLengths().length === 1;
}

/** Without its extension. Undefined for a number that lacks its country, or may lack its area code. */
function parsed(written: string, home: Country | undefined): PhoneNumber | undefined {
  const main = written.replace(extension, '');
  const dialled = home === undefined ? main.replace(/^[([]?(\+|00)/, '+') : main.replace(/^[([]\+/, '+');
  const number = parsePhoneNumberFromString(dialled, { extract: false, ...(home && { defaultCountry: home }) });
  // A form that would be read as another number, such as one of zeros, is no phone number.
  if (!number?.isPossible() || parsePhoneNumberFromString(number.number)?.number !== number.number) return undefined;
  const hasPrefix = home === undefined || /^[([]?[+0]/.test(dialled);
  return hasPrefix || number.isValid() || hasOneLength(home) ? number : undefined;
}

/** The international form of a number, such as `+442079460018`; undefined for a local one, and without a country. */
export const e164 = (written: string, home?: Country): string | undefined => parsed(written, home)?.number;

/** The digits of a number as it is written, and those of its international and its national form. */
export function phoneDigits(written: string, home?: Country): string[] {
  const number = parsed(written, home);
  const forms = number ? [number.number, number.formatNational(), number.nationalNumber] : [];
  return [...new Set([written.replace(extension, ''), ...forms].map(digitsOf))];
}

/** The spellings by which rows about a person are found. */
export const phoneSpellings = ({ phone, phoneE164 }: { phone?: string; phoneE164?: string }): string[] => [
  ...(phone === undefined ? [] : [phone]),
  ...(phoneE164 === undefined ? [] : phoneDigits(phoneE164)),
];

/** Whether two numbers that people wrote are the same number. */
export function samePhone(one: string, other: string, home?: Country): boolean {
  const extensionOf = (written: string) => digitsOf(extension.exec(written)?.[0] ?? '');
  if (digitsOf(one) === digitsOf(other)) return digitsOf(one) !== '';
  if (extensionOf(one) !== extensionOf(other)) return false;
  const [a, b] = [one, other].map((written) => e164(written, home));
  if (a !== undefined && b !== undefined)
    // The plus sign may be missing.
    return a === b || digitsOf(a) === digitsOf(other) || digitsOf(b) === digitsOf(one);
  if (a === b) return false;
  // Only one of them has its country.
  const [local, whole] = a === undefined ? [one, other] : [other, one];
  return phoneDigits(whole, home).includes(digitsOf(local.replace(extension, '')));
}
