// Numbers inside the texts of a language.
import { type Language, localeOf } from '../language.js';

export function wordsIn(language: Language) {
  const locale = localeOf(language);
  const numbers = new Intl.NumberFormat(locale);
  const signs = new Intl.NumberFormat(locale, { signDisplay: 'exceptZero' });
  const percents = new Intl.NumberFormat(locale, { style: 'percent' });
  const growths = new Intl.NumberFormat(locale, { style: 'percent', signDisplay: 'exceptZero' });
  const rules = new Intl.PluralRules(locale);
  const number = (value: number): string => numbers.format(value);
  const either = (count: number, one: string, more: string): string => (rules.select(count) === 'one' ? one : more);
  const days = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
  return {
    number,
    day: (at: string): string => days.format(new Date(at)),
    /** One of two forms, as the language counts. */
    either,
    many: (count: number, one: string, more: string): string => `${number(count)} ${either(count, one, more)}`,
    signed: (value: number): string => signs.format(value),
    percent: (value: number): string => percents.format(value / 100),
    growth: (percent: number): string => growths.format(percent / 100),
  };
}
