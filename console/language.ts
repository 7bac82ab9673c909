// The language of the console and the till: the one that was chosen and is kept in this browser, or else the first of
// the browser's languages that is one of ours, or else English.
import type { components } from '../sdk/index.js';

export type Language = NonNullable<components['schemas']['Program']['language']>;

/** Each language by its own name. */
export const languages: Readonly<Record<Language, string>> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  it: 'Italiano',
};

const isOurs = (code: string): code is Language => Object.hasOwn(languages, code);
const codeOf = (tag: string): string => tag.toLowerCase().split('-', 1)[0] ?? '';

/** Some browsers name the locale of their system, which need not be a language tag. */
function isTag(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length > 0;
  } catch {
    return false;
  }
}

const setting = 'language';
const wanted = (globalThis.navigator?.languages ?? []).filter(isTag);

function keptLanguage(): string {
  try {
    return globalThis.window?.localStorage.getItem(setting) ?? '';
  } catch {
    // The browser stores nothing.
    return '';
  }
}

const kept = keptLanguage();

export const language: Language = isOurs(kept) ? kept : (wanted.map(codeOf).find(isOurs) ?? 'en');

export function keepLanguage(chosen: string): void {
  try {
    localStorage.setItem(setting, chosen);
  } catch {
    // The browser stores nothing.
  }
}

/** By which dates and numbers are written: with the region of the browser, such as de-AT. */
export const localeOf = (code: Language): string => wanted.find((tag) => codeOf(tag) === code) ?? code;
export const locale = localeOf(language);
