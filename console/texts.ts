// The texts of the console in its language, loaded with that language alone; components contain none.
import { isolating } from './isolating.js';
import { language, locale } from './language.js';
import { catalogues } from './texts/catalogues.js';
import type { Catalogue } from './texts/en/index.js';

export const texts: Catalogue = isolating(await catalogues[language]());

/** The fields of the API by the names that the screens give them. */
export const fieldNames: Readonly<Record<string, string | undefined>> = texts.fieldNames;

/** The options of a choice, from their titles by key. */
export const optionsOf = <K extends string>(titles: Readonly<Record<K, string>>): [K, string][] =>
  Object.entries(titles) as [K, string][];

const capital = (text: string): string => text.charAt(0).toLocaleUpperCase(locale) + text.slice(1);
const names = new Intl.DisplayNames(locale, { type: 'language' });

/** A code that is not well-formed yet has no name. */
export function languageName(code: string): string {
  try {
    return names.of(code) ?? code;
  } catch {
    return code;
  }
}

const weekdays = new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' });

/** Monday is 0. */
export const weekdayTitle = (at: number): string => capital(weekdays.format(Date.UTC(2024, 0, 1 + at)));

/** As an entry of a list. */
export const languageTitle = (code: string): string => capital(languageName(code));
