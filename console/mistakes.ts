// What the service says is wrong at a field, as a kind with its limit, so that a screen can say it in its own language.
// The API has one sentence for developers. test/unit/pages/consoleRefusals.test.ts holds the table to the
// sentences of the schemas, and of the functions that find other mistakes.
import type { texts } from './texts.js';

export type MistakeKind = keyof typeof texts.mistakes;

/** The first that matches counts. A group in a pattern is the limit. */
const patterns: readonly (readonly [RegExp, MistakeKind])[] = [
  [/^is required\b|^must be true: /, 'missing'],
  [/^must (?:not be empty|have a visible character)$/, 'empty'],
  [/^must not contain \. or \$$/, 'dots'],
  [/^must (?:not contain|be UTF-8)/, 'characters'],
  [/^must have at least (\d+) characters?$/, 'tooShort'],
  [/^must have at most (\d+) characters?$/, 'tooLong'],
  [/^must have at least (\d+) entr(?:y|ies)$/, 'tooFew'],
  [/^must have at most (\d+) entr(?:y|ies)$|^must be at most (\d+) (?:words$|of )/, 'tooMany'],
  [/^must be at most the goal of the card$/, 'aboveGoal'],
  [/^must be at least (-?[\d.]+)$/, 'atLeast'],
  [/^must be more than (-?[\d.]+)$/, 'moreThan'],
  [/^must be at most (?:the goal of )?(-?[\d.]+)(?: on a stamps program)?$/, 'atMost'],
  [/^must be less than (-?[\d.]+)$/, 'lessThan'],
  [/^must (?:be|have) exactly (-?[\d.]+)\b/, 'exactly'],
  [/^must be a number\b(?! with)/, 'number'],
  [/^must be a whole number\b/, 'wholeNumber'],
  [/^must be (?:one of |"|a country code )|^a language is written|^must be the code of a language/, 'unknownValue'],
  [/^is not a known (?:field|query parameter)\b|^has unknown fields$/, 'unknownField'],
  [/^must be an email address\b/, 'email'],
  [/^must be a date\b/, 'date'],
  [/^must be a phone number\b/, 'phone'],
  [/^must be a number with its country/, 'phoneCountry'],
  [/^must be an address or a CIDR/, 'network'],
  [/^must be an address\b|^must begin with http/, 'url'],
  [/^must be lower-case letters, digits and inner dashes/, 'slug'],
  [/^must be 1 to 64 letters, digits, /, 'id'],
  [/^is written 09:00/, 'hours'],
  [/^a colour is written/, 'color'],
  [/^must be three capital letters/, 'currency'],
  [/^must be an IANA time zone/, 'timeZone'],
  [/ is taken$|^is the id of the reward whose price is the goal$|^is given twice$/, 'duplicate'],
  [/^cannot be changed here$|^is not yours$/, 'fixed'],
  [/^must change at least one field$/, 'nothing'],
  [/^must be in the future$/, 'past'],
  [/^must be within the next (\d+) days$/, 'period'],
  [/^must be after since$|^must not be before from$/, 'order'],
  [/^belongs to |^is for stamps programs$/, 'notForStyle'],
  [/^must be above the tier before it$/, 'aboveBefore'],
  [/^(?:needs )?exactly one of /, 'oneOf'],
  [/^the image |^give a PNG/, 'picture'],
  [/^is [\d.]+ x [\d.]+ (?:points, and its place|pixels, and phones) /, 'pictureSize'],
  [/ bytes of images, more than /, 'pictureSpace'],
  [/^must be .*, because the cards show it as /, 'barcode'],
  [/, and member codes have letters: /, 'barcodeLetters'],
  [/^The URL (?:cannot be parsed|must use https)\.$/, 'url'],
  [/^The URL is longer than (\d+) characters\.$/, 'tooLong'],
  [/^The URL must not hold a user name or password\.$/, 'noPassword'],
  [/^The URL must not hold a fragment\.$/, 'noFragment'],
  [/^The port must be 443 or 8443\.$/, 'port'],
  [/^The (?:host|address) /, 'receiver'],
  [/^the subscription is disabled$/, 'disabled'],
  [/^Another program has that slug\.$/, 'slugTaken'],
  [/^needs mail, which is off/, 'mailOff'],
  [/^is in the past: phones /, 'endsCards'],
  [/^is new: passes in use expire at (\S+)$/, 'cardsEnd'],
  [/^is removed: passes in use no longer expire$/, 'cardsStay'],
  [/^has a contrast of ([\d.]+) /, 'contrast'],
  [/^Google shows (\d+) characters of it$/, 'googleCuts'],
  [/^Google shows it for 14 digits/, 'googleBarcode'],
  [/^Google has none: /, 'googleHours'],
  [/^iPhones use them only /, 'hoursNeedPlaces'],
  [/^are read in UTC: /, 'hoursInUtc'],
  [/^the public page is closed/, 'joinClosed'],
  [/^is not valid$|^must be (?:a |an |true or false\b|text\b)/, 'invalid'],
];

/** Undefined for a sentence that has no kind. */
export function kindOf(message: string): { kind: MistakeKind; limit: string | undefined } | undefined {
  for (const [pattern, kind] of patterns) {
    const found = pattern.exec(message);
    if (found) return { kind, limit: found.slice(1).find((group) => group !== undefined) };
  }
  return undefined;
}
