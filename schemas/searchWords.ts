// The words by which `q` finds a member, folded the same way when stored and when searched, so that case and accents never
// matter (decisions.md "`q`").
import { ServiceError } from './errors.js';

const maxWords = 5;
const maxWordLength = 64;

/** Lower case without accents: "Łucja Ünal" and "lucja unal" are the same words. */
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

/** Whole characters: half of one could be neither stored nor found. */
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

/** Every word that a search may begin, without repeats. */
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

/** The words of a query; one-letter words are dropped where another word stands beside them. Throws VALIDATION_FAILED over 5. */
export function queryWords(q: string): string[] {
  const all = [...new Set(words(q))].map(cut);
  if (words(q).length > maxWords)
    throw new ServiceError('VALIDATION_FAILED', [{ path: 'q', message: `must be at most ${maxWords} words` }]);
  const longer = all.filter((word) => Array.from(word).length > 1);
  return longer.length > 0 ? longer : all;
}

/** Phone numbers are typed with signs that their stored digits do not have. */
export function wordForms(word: string): string[] {
  const number = digits(word);
  return number && /^[+\d()./-]+$/.test(word) && number !== word ? [word, number] : [word];
}

/** The range of all strings that begin with `word`: `$gte` the first, `$lt` the second. */
export function prefixRange(word: string): { $gte: string; $lt: string } {
  return { $gte: word, $lt: `${word}\u{10FFFF}` };
}
