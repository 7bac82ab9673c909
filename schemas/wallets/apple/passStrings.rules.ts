// Which texts of an Apple pass the phone translates. A phone replaces each text of pass.json that equals a key in the
// pass.strings of its language, a name too. So a text that is to be translated ends with an invisible mark, and
// the marks are taken out of every other text: the service's words have one mark, a merchant's texts that
// `passTemplate.locales` translates have the other, and a member's own words have none. The text in front of the mark is
// in the program's language, so a phone that finds no translation shows that text (docs/protocols/apple-wallet.md,
// section 6).
import type { PassTemplate } from '../../programs/passTemplate.schema.js';
import { phoneLanguages } from '../../shared/languages/codes.rules.js';
import { catalogues, type Language, languages, type PassWords } from '../../shared/languages/index.js';

/** INVISIBLE SEPARATOR and INVISIBLE PLUS. */
const marks = { service: '\u2063', merchant: '\u2064' };
const anyMark = new RegExp(`[${marks.service}${marks.merchant}]`, 'g');

/** A text that no phone translates. */
export const untranslated = (text: string): string => text.replace(anyMark, '');

interface Worded {
  name: string;
  /** English without one. */
  language?: Language | undefined;
}

type Texts = Pick<PassTemplate, 'description' | 'locales'>;

/** The texts of the service that are the same on all passes of a program. */
function wordsIn(language: Language, { name }: Worded, { description }: Texts): Map<string, string> {
  const { pass } = catalogues[language];
  const words = new Map(Object.entries(pass).flatMap(([key, text]) => (typeof text === 'string' ? [[key, text]] : [])));
  return description === undefined ? words.set('description', pass.description(name)) : words;
}

export interface PassTexts {
  /** In the program's language, for the inside of other texts. */
  plain: PassWords;
  /** The same, each to be translated by the phone. */
  words: PassWords;
  description: string;
  /** A text of the merchant. */
  say: (text: string) => string;
}

export function passTexts(program: Worded, template: Texts): PassTexts {
  const { pass: plain } = catalogues[program.language ?? 'en'];
  const marked = Object.entries(plain).map(([key, text]) => [
    key,
    typeof text === 'string' ? text + marks.service : text,
  ]);
  const translated = new Set(Object.values(template.locales).flatMap(Object.keys).map(untranslated));
  const say = (given: string) => {
    const text = untranslated(given);
    return translated.has(text) ? text + marks.merchant : text;
  };
  const { description } = template;
  return {
    plain,
    words: Object.fromEntries(marked) as PassWords,
    description: description === undefined ? plain.description(program.name) + marks.service : say(description),
    say,
  };
}

/** Of Norwegian, phones know only its two forms. */
const wider: Record<string, string> = { nb: 'no', nn: 'no' };

/** A merchant's texts in a language, those of the language without its script or country where it has none of its own. */
function localesOf({ locales }: Texts, code: string): Record<string, string> {
  const [base = code] = code.split('-', 1);
  return { ...locales[wider[base] ?? base], ...locales[base], ...locales[code] };
}

/**
 * The entries of each pass.strings, by language. Of a pass without the phone's language Wallet shows any other one, so
 * each language that phones have gets a file; one that the service does not speak shows the program's language.
 */
export function passStrings(program: Worded, template: Texts): Map<string, Map<string, string>> {
  const own = wordsIn(program.language ?? 'en', program, template);
  const ownTexts = new Set(own.values());
  const tableOf = (code: string) => {
    const spoken = languages.find((language) => language === code.split('-', 1)[0]);
    const shown = spoken === undefined ? new Map() : wordsIn(spoken, program, template);
    const table = new Map<string, string>();
    for (const [key, text] of own) {
      const to = shown.get(key) ?? (key === 'memberId' ? text : undefined);
      if (to !== undefined) table.set(text + marks.service, to);
    }
    for (const [given, to] of Object.entries(localesOf(template, code))) {
      const from = untranslated(given);
      if (ownTexts.has(from)) table.set(from + marks.service, to);
      table.set(from + marks.merchant, to);
    }
    return table;
  };
  const codes = new Set<string>([...languages, ...Object.keys(template.locales), ...phoneLanguages]);
  return new Map([...codes].map((code) => [code, tableOf(code)]));
}

/** What a phone shows of a text or a pass.json by one pass.strings. */
export function shownBy(table: ReadonlyMap<string, string> | undefined, json: Record<string, unknown>) {
  const shown = (text: string) =>
    table?.get(text) ?? (text.endsWith(marks.service) || text.endsWith(marks.merchant) ? text.slice(0, -1) : text);
  return JSON.parse(JSON.stringify(json), (_, value) => (typeof value === 'string' ? shown(value) : value));
}

const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t')}"`;

/** The content of a pass.strings, in UTF-8. */
export const stringsFile = (table: ReadonlyMap<string, string>): string =>
  [...table].map(([from, to]) => `${quoted(from)} = ${quoted(to)};\n`).join('');
