// The languages of the pages and mails for customers. Each has one catalogue, a file of the same name.

import { isolated } from '../text.js';
import { de } from './de.js';
import { type Catalogue, en } from './en.js';
import { es } from './es.js';
import { fr } from './fr.js';
import { it } from './it.js';

export type { Catalogue };

const written = { en, de, fr, es, it };
export type PassWords = Catalogue['pass'];
export type Language = keyof typeof written;
export const languages = Object.keys(written) as [Language, ...Language[]];

/** The texts with each name, address or code in a sentence isolated from the words around it. */
function isolating<T>(texts: T): T {
  if (typeof texts === 'function')
    return ((...given: unknown[]) =>
      texts(...given.map((each) => (typeof each === 'string' ? isolated(each) : each)))) as T;
  if (typeof texts !== 'object' || texts === null) return texts;
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, isolating(text)])) as T;
}

export const catalogues: Record<Language, Catalogue> = isolating(written);

/** By which dates are written. */
export const localeOf = (language: Language): string => (language === 'en' ? 'en-GB' : language);

const known = (tag: string): Language | undefined =>
  languages.find((language) => language === tag.toLowerCase().split('-', 1)[0]);

/**
 * The language that a browser prefers among ours, by its `Accept-Language` (RFC 9110, section 12.5.4); undefined when
 * it names none of them.
 */
export function preferredLanguage(acceptLanguage: string): Language | undefined {
  const wanted = acceptLanguage
    .slice(0, 1_000)
    .split(',')
    .flatMap((part) => {
      const [tag = '', ...parameters] = part.trim().split(/\s*;\s*/);
      const language = known(tag);
      const weight = parameters.find((parameter) => /^q=/i.test(parameter))?.slice(2);
      const quality = weight === undefined ? 1 : Number(weight);
      return language && quality > 0 ? [{ language, quality }] : [];
    });
  return wanted.toSorted((one, other) => other.quality - one.quality)[0]?.language;
}

/** The language of the program, or else of the browser, or else English. */
export const languageOf = (program: { language?: Language | undefined }, acceptLanguage = ''): Language =>
  program.language ?? preferredLanguage(acceptLanguage) ?? 'en';
