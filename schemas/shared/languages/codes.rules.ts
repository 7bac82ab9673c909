// The codes of languages, as phones use them, and the nearest one to what somebody wrote instead.
import { distanceBetween } from '../mistakes.rules.js';
import { languages } from './index.js';

/** The languages that phones are set to, beside ours: those that a program can be translated into from a list. */
export const phoneLanguages = [
  ...languages,
  ...['ar', 'bg', 'ca', 'cs', 'da', 'el', 'et', 'fi', 'he', 'hi', 'hr', 'hu', 'id', 'ja', 'ko', 'lt', 'lv', 'ms', 'nb'],
  ...['nl', 'pl', 'pt', 'ro', 'ru', 'sk', 'sl', 'sr', 'sv', 'th', 'tr', 'uk', 'vi', 'zh-Hans', 'zh-Hant'],
] as const;

function nameIn(code: string, locale: string): string | undefined {
  try {
    return new Intl.DisplayNames(locale, { type: 'language', fallback: 'none' }).of(code);
  } catch {
    return undefined;
  }
}

/** Whether the code is that of a language: `ge` has the form of one and is none. */
export const isLanguage = (code: string): boolean => nameIn(code, 'en') !== undefined;

/** By the code, the three-letter code, or the name of the language in English or in itself; undefined where none is near. */
function nearestLanguage(written: string, known: readonly string[] = phoneLanguages): string | undefined {
  const word = written.trim();
  const [short] = word.toLowerCase().split(/[-_]/);
  const canonical = /^[A-Za-z]{2,3}$/.test(short ?? '') ? new Intl.Locale(short ?? '').language : undefined;
  const exact = known.find((code) => code === canonical);
  if (exact !== undefined) return exact;
  const distances = known.map((code) => {
    const names = [code, nameIn(code, 'en'), nameIn(code, code)].flatMap((name) => name ?? []);
    return { code, distance: Math.min(...names.map((name) => distanceBetween(word, name))) };
  });
  const [best] = distances.toSorted((one, other) => one.distance - other.distance);
  return best && best.distance <= Math.max(1, Math.ceil(word.length / 3)) ? best.code : undefined;
}

/** The end of a sentence about a code that is none; empty where nothing is near. */
export function didYouMean(written: unknown, known?: readonly string[]): string {
  const near = typeof written === 'string' ? nearestLanguage(written, known) : undefined;
  return near === undefined ? '' : `; did you mean ${near}?`;
}
