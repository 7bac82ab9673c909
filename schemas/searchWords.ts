// The search words by which `q` finds a member. They are folded in the same way when they are stored and when they are
// searched, so case and accents do not matter (docs/interface.md#43-members).
import { ServiceError } from './errors.js';

const maxWords = 5;
const maxWordLength = 64;

/**
 * Lower case without accents, apostrophes and invisible characters: "Łucja O'Brien" and "lucja obrien" become the same
 * words. The result may contain more white space: a free-standing accent becomes a space and a mark.
 */
export function fold(value: string): string {
  return value
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}'’‘‛ʼʻ`´′]+/gu, '')
    .toLowerCase()
    .replace(/ł/g, 'l')
    .replace(/ø/g, 'o')
    .replace(/đ/g, 'd')
    .replace(/ß/g, 'ss')
    .replace(/ı/g, 'i')
    .replace(/ς/g, 'σ');
}

/** Never splits a surrogate pair: half a pair could be neither stored nor found. */
const cut = (word: string): string => word.slice(0, maxWordLength).replace(/[\uD800-\uDBFF]$/, '');

const typedWords = (value: string): string[] => value.split(/\s+/).filter(Boolean);

/** Folded after splitting, so that no accent splits a word. Words that fold to nothing are dropped. */
const words = (value: string): string[] =>
  typedWords(value)
    .map((word) => fold(word).replace(/\s+/g, ''))
    .filter(Boolean);
export const digits = (value: string): string => value.replace(/\D/g, '');

export interface Searchable {
  firstName?: string;
  lastName?: string;
  email?: string;
  phone?: string;
  memberCode: string;
}

/** The search words of a member, without duplicates. A word of a query matches the beginning of a search word. */
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
 * The words of a query; empty when all of them fold to nothing. One-letter words are dropped when the query has a
 * longer word. Throws VALIDATION_FAILED for more than 5 words.
 */
export function queryWords(q: string): string[] {
  const all = [...new Set(words(q))].map(cut);
  if (typedWords(q).length > maxWords)
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

export const maxSearchLevel = 5;

/**
 * Assigns members random levels: one of 4^t members has a level of at least t. A search for a word that very many
 * members have reads only the highest levels, whose rows are a random sample on any engine.
 */
export function searchLevel(memberId: string): number {
  const random = Number.parseInt(memberId.slice(-8), 16);
  let level = 0;
  while (level < maxSearchLevel && Math.floor(random / 4 ** level) % 4 === 0) level += 1;
  return level;
}

/** The range of all strings that begin with `word`: `$gte` the first, `$lt` the second. */
export function prefixRange(word: string): { $gte: string; $lt: string } {
  return { $gte: word, $lt: `${word}\u{10FFFF}` };
}
