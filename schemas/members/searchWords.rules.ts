// The search words by which `q` finds a member. Stored words and queries are brought to the same normal forms
// (schemas/members/spellings.rules.ts), so case, accents, umlauts and separators do not matter
// (docs/interface.md#43-members).
import { ServiceError } from '../shared/errors.js';
import {
  fold,
  isNumber,
  isOfNumber,
  numberForms,
  partsOf,
  phoneWords,
  spell,
  withoutSeparators,
} from './spellings.rules.js';

const maxWords = 5;
/** A word of a query with more parts, such as a long Thai text, is searched only as a whole. */
const maxParts = 10;
const maxWordLength = 64;

/** Never splits a surrogate pair: half a pair could be neither stored nor found. */
const cut = (word: string): string => word.slice(0, maxWordLength).replace(/[\uD800-\uDBFF]$/, '');

const distinct = (words: readonly string[]): string[] => [...new Set(words.map(cut).filter(Boolean))];

const typedWords = (value: string): string[] => value.split(/\s+/).filter(Boolean);

const isLetter = (word: string): boolean => Array.from(fold(word)).length < 2;

export interface Searchable {
  firstName?: string;
  lastName?: string;
  email?: string;
  phone?: string;
  phoneE164?: string;
  memberCode: string;
  externalId?: string;
}

/** The words, with the parts of compound words. A letter that begins another word is left out. */
function nameWords(typed: readonly string[]): string[] {
  const words = typed.flatMap((word) => [word, ...partsOf(word)]);
  const isCovered = (letter: string) =>
    words.some((word) => !isLetter(word) && spell(word).plain.startsWith(fold(letter)));
  return words.filter((word) => !isLetter(word) || !isCovered(word)).flatMap((word) => Object.values(spell(word)));
}

/** The search words of a member, without duplicates. */
export function searchWords({ firstName, lastName, email, ...person }: Searchable): string[] {
  const surnames = typedWords(lastName ?? '');
  return distinct([
    ...nameWords(typedWords(firstName ?? '')),
    // "van der Berg" is also found by "Vanderberg".
    ...nameWords(surnames.length > 1 ? [...surnames, surnames.join('')] : surnames),
    fold(email ?? ''),
    ...phoneWords(person.phone),
    ...phoneWords(person.phoneE164),
    ...[person.memberCode, person.externalId ?? ''].map((code) => fold(withoutSeparators(code))),
  ]);
}

/** What one word of a query finds: search words that begin with a prefix, and search words that are the same. */
export interface QueryWord {
  prefixes: string[];
  whole: string[];
}

function queryWord({ prefixes, whole }: QueryWord): QueryWord {
  const all = distinct(prefixes);
  const isCovered = (word: string) => all.some((other) => other !== word && word.startsWith(other));
  const kept = all.filter((word) => !isCovered(word));
  return { prefixes: kept, whole: distinct(whole).filter((word) => !kept.some((prefix) => word.startsWith(prefix))) };
}

function typedWord(word: string): QueryWord {
  if (isNumber(word)) return queryWord(numberForms(word));
  const { plain, expanded, bare } = spell(word);
  // As it was typed, it may begin an email.
  return queryWord({ prefixes: [plain, expanded, fold(word)], whole: [bare] });
}

/** Neighbouring words that belong to a number become one word. */
function joinNumbers(typed: readonly string[]): string[] {
  const runs: string[] = [];
  for (const [index, word] of typed.entries())
    if (isOfNumber(word) && isOfNumber(typed[index - 1] ?? '')) runs.push(`${runs.pop()} ${word}`);
    else runs.push(word);
  return runs.flatMap((run) => (isNumber(run) ? [run] : typedWords(run)));
}

/**
 * The ways in which a query can be read; a member is found by a way when each of its words finds the member. None when
 * all words fold to nothing. Besides the words as they were typed there are the parts of compound words ("Garcia-Lorca"
 * for "Garcia Lorca"), and all words without the white space between them ("AB 12" for "AB12"). One-letter words are
 * dropped when the query has a longer word. Throws VALIDATION_FAILED for more than 5 words.
 */
export function readQuery(q: string): QueryWord[][] {
  const typed = joinNumbers(typedWords(q));
  if (typed.length > maxWords)
    throw new ServiceError('VALIDATION_FAILED', [{ path: 'q', message: `must be at most ${maxWords} words` }]);
  const all = typed.filter((word) => fold(word) !== '');
  const longer = all.filter((word) => !isLetter(word));
  const words = [...new Set(longer.length > 0 ? longer : all)];
  if (words.length === 0) return [];
  const split = words.flatMap((word) => {
    const parts = word.includes('@') || isNumber(word) ? [] : partsOf(word);
    return parts.length > 1 && !parts.some(isLetter) ? parts : [word];
  });
  const { plain, expanded, bare } = spell(all.join(''));
  return [
    words.map(typedWord),
    ...(split.length > words.length && split.length <= maxParts ? [split.map(typedWord)] : []),
    ...(all.length > 1 ? [[queryWord({ prefixes: [plain, expanded], whole: [bare] })]] : []),
  ];
}

/** Whether the search words of a member have each word of a query. */
export function hasWords(own: readonly string[], words: readonly QueryWord[]): boolean {
  return words.every(
    ({ prefixes, whole }) =>
      prefixes.some((prefix) => own.some((word) => word.startsWith(prefix))) ||
      whole.some((word) => own.includes(word)),
  );
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
