// The search words by which `q` finds a member. They are folded in the same way when they are stored and when they are
// searched, so case and accents do not matter (docs/interface.md#43-members).
import { ServiceError } from './errors.js';

const maxWords = 5;
const maxWordLength = 64;

/** Lower case without accents: "Łucja Ünal" and "lucja unal" become the same words. */
export function fold(value: string): string {
  return value
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/ł/g, 'l')
    .replace(/ø/g, 'o')
    .replace(/đ/g, 'd')
    .replace(/ß/g, 'ss')
    .replace(/ı/g, 'i')
    .replace(/ς/g, 'σ');
}

/** Never cuts a surrogate pair in half: half a pair could be neither stored nor found. */
const cut = (word: string): string => word.slice(0, maxWordLength).replace(/[\uD800-\uDBFF]$/, '');

const words = (value: string): string[] => fold(value).split(/\s+/).filter(Boolean);
const digits = (value: string): string => value.replace(/\D/g, '');

export interface Searchable {
  firstName?: string;
  lastName?: string;
  email?: string;
  phone?: string;
  memberCode: string;
}

/** The search words of a member, without repeats. A word of a query matches the beginning of a search word. */
export function searchWords(person: Searchable): string[] {
  const all = [
    ...words(person.firstName ?? ''),
    ...words(person.lastName ?? ''),
    ...words(person.email ?? ''),
    digits(person.phone ?? ''),
    fold(person.memberCode),
  ];
  return [...new Set(all.filter(Boolean).map(cut))];
}

/**
 * The words of a query. One-letter words are dropped when the query has a longer word. Throws VALIDATION_FAILED for
 * more than 5 words.
 */
export function queryWords(q: string): string[] {
  const all = [...new Set(words(q))].map(cut);
  if (words(q).length > maxWords)
    throw new ServiceError('VALIDATION_FAILED', [{ path: 'q', message: `must be at most ${maxWords} words` }]);
  const longer = all.filter((word) => Array.from(word).length > 1);
  return longer.length > 0 ? longer : all;
}

/**
 * The forms in which a word is searched: the word itself, and only its digits when it looks like a phone number,
 * because phone numbers are stored as digits.
 */
export function wordForms(word: string): string[] {
  const number = digits(word);
  return number && /^[+\d()./-]+$/.test(word) && number !== word ? [word, number] : [word];
}

/** The range of all strings that begin with `word`: `$gte` the first, `$lt` the second. */
export function prefixRange(word: string): { $gte: string; $lt: string } {
  return { $gte: word, $lt: `${word}\u{10FFFF}` };
}
