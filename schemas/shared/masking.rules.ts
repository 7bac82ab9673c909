// Personal data in answers to callers who may not read members.
import { firstCharacters } from './text.js';

type Replacements = Readonly<Record<string, (text: string) => string | undefined>>;

/** A copy with the texts of these fields replaced at any depth. */
function replaced(value: unknown, by: Replacements): unknown {
  if (Array.isArray(value)) return value.map((entry) => replaced(entry, by));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => {
      const isReplaced = typeof entry === 'string' && Object.hasOwn(by, key);
      return [key, isReplaced ? by[key]?.(entry) : replaced(entry, by)];
    }),
  );
}

const firstCharacter = (text: string) => `${firstCharacters(text, 1)}***`;
const masks = { email: firstCharacter, firstName: firstCharacter, lastName: firstCharacter, phone: firstCharacter };
const cardLinks = { passUrl: () => '', saveUrl: () => undefined };

/**
 * Masks the personal fields of a payload: only their first character stays (docs/interface.md#211-delivery-log-item).
 */
export const maskPersonal = (value: unknown): unknown => replaced(value, masks);

/** Without the links of members' cards, which show personal data to everybody who has them. */
export const withoutCardLinks = (value: unknown): unknown => replaced(value, cardLinks);
