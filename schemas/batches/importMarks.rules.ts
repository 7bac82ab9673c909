// What the rows of an import's chunk are found by when a member is erased or exported: digests of the ids of their
// members, and of the cells of rows that became no member. So neither reads the files of all imports. The digests are
// different in each merchant, and short: two different texts may have the same one.

import type { FullName } from '../members/members.rows.js';
import { email } from '../shared/email.rules.js';
import { sha256 } from '../shared/ids.js';
import { digitsOf, writtenPhone } from '../shared/phone.rules.js';
import type { ImportChunkRow, ImportRow, ImportRowOutcome } from './batches.rows.js';

/** Shorter ones are too likely to be something else, such as a number of points. */
const shortest = 6;

/** A text as it is written, in any case. */
export const plainOf = (text: string): string => text.normalize('NFC').trim().toLowerCase();

/** The digits of a phone number: `0049 (0)170` is `+49 170`. */
const numberOf = (text: string): string => digitsOf(writtenPhone(text).replace(/\(0\)/, '')).replace(/^0+/, '');

/** The stored form of an address with an international domain; others are stored as `plainOf` has them. */
const addressOf = (text: string): string =>
  text.includes('@') && /[^\0-\x7f]/.test(text) ? (email.safeParse(text).data ?? '') : '';

/** A text in the forms in which it is compared, however it is written. Empty for a short one. */
export function formsOf(text: string): string[] {
  if (text.trim().length < shortest) return [];
  const forms = [plainOf(text), digitsOf(text), numberOf(text), addressOf(text)];
  return [...new Set(forms)].filter((form) => form.length >= shortest);
}

/** Everything in a row that may be about a person: its cells, and what was read in them. */
export const textsOfRow = ({ cells, person }: ImportRow): string[] => [
  ...cells,
  ...[person?.email, person?.phone, person?.externalId].filter((text) => text !== undefined),
];

const textsOf = (text: string): string[] => [plainOf(text), ...formsOf(text)].filter((form) => form !== '');

const markOf = (merchantId: string, text: string): string => sha256(`${merchantId}:${text}`).slice(0, 13);

/** The marks of the chunks in which rows about the person may be, unless an import never reached the row. */
export function marksOfPerson(
  merchantId: string,
  { memberId, values, names = [] }: { memberId: string; values: readonly string[]; names?: readonly FullName[] },
): string[] {
  const texts = [memberId, ...[...values, ...names.map(({ lastName }) => lastName)].flatMap(textsOf)];
  return [...new Set(texts)].map((text) => markOf(merchantId, text));
}

export const isEmptied = ({ cells }: Pick<ImportRow, 'cells'>): boolean => cells.every((cell) => cell === '');

/** Rows that are not decided yet have no mark; of those that cannot become a member this is decided at once. */
export function marksOfRows(
  merchantId: string,
  { rows, outcomes = [] }: Pick<ImportChunkRow, 'rows' | 'outcomes'>,
): string[] {
  const decided = new Map<number, ImportRowOutcome>(outcomes.map((outcome) => [outcome.row, outcome]));
  const texts = rows.flatMap((row) => {
    const outcome = decided.get(row.row);
    if (isEmptied(row)) return [];
    if (outcome?.memberId !== undefined) return [outcome.memberId];
    return outcome || row.reason !== undefined ? textsOfRow(row).flatMap(textsOf) : [];
  });
  return [...new Set(texts)].map((text) => markOf(merchantId, text));
}
