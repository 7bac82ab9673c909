// Personal data in answers to callers who may not read members, and in the log of requests.
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

export const hidden = '***';

const plainText = /^[\w:.+*-]{1,200}$/;
const phoneLike = /^\+?[\d.:_-]{7,}$/;
const isPlain = (text: string): boolean => plainText.test(text) && !phoneLike.test(text);
const isMemberId = (text: string): boolean => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text);
const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\d(T[\d:.]{5,12}(Z|[+-]\d\d:\d\d)?)?$/.test(text);
/** The number of a receipt, perhaps with a short prefix. Any other text of a cash register may be a name or a phone. */
const isReceipt = (text: string): boolean => /^[A-Za-z]{0,3}[-_.:]?\d{1,6}$/.test(text);

/**
 * Fields of requests whose values are ids, codes of the API, times and amounts, and which values of them are shown.
 * Texts of all other fields are hidden.
 */
const shownFields = new Map(
  Object.entries({
    memberId: isMemberId,
    'id transactionId logId requestId programId programIds rewardId subscriptionId eventId targetId': isPlain,
    'undoes roleIds permissions lookupBy events eventType action type status style kind only platform': isPlain,
    'version after limit page pageSize delta value amount quantity sequence lastSequence waiting': isPlain,
    'initialPoints currency': isPlain,
    'since until from to occurredAt expiresAt': isTime,
    reference: isReceipt,
  }).flatMap(([names, isShown]) => names.split(' ').map((name) => [name, isShown] as const)),
);
const plainName = /^[A-Za-z]\w{0,63}$/;
/** A larger number may be that of a phone; so may one of more digits in a field of amounts. */
const smallNumber = 1_000_000;
const largestAmount = 1_000_000_000;

function maskedScalar(field: string, value: string | number): string | number {
  if (Object.hasOwn(masks, field)) return firstCharacter(String(value));
  const isShown = shownFields.get(field);
  if (typeof value === 'string') return isShown?.(value) ? value : hidden;
  return Math.abs(value) < (isShown ? largestAmount : smallNumber) ? value : hidden;
}

/** MongoDB refuses a row of over 100 levels, and with it all rows of the insert. */
const deepest = 20;

/**
 * What was sent with a request, as JSON of at most `most` characters without personal data and secrets: names of
 * fields, numbers, and texts of the fields that never hold either. `isCut`: something was left out for its length or
 * depth.
 */
export function maskRequest(value: unknown, most = 2_000): { shown: unknown; isCut: boolean } {
  let left = most;
  let isCut = false;
  /** Whether there is room for these many characters, which are then taken. */
  const take = (length: number): boolean => {
    if (length > left) isCut = true;
    else left -= length;
    return !isCut;
  };
  const masked = (field: string, inner: unknown, level = 1): { value: unknown } | undefined => {
    // With the comma that follows.
    if (inner === null || typeof inner !== 'object') {
      const scalar = typeof inner === 'string' || typeof inner === 'number' ? maskedScalar(field, inner) : inner;
      return take(String(JSON.stringify(scalar)).length + 1) ? { value: scalar } : undefined;
    }
    if (level > deepest) isCut = true;
    if (!take(3)) return undefined;
    if (Array.isArray(inner)) {
      const list: unknown[] = [];
      for (const entry of inner) {
        const one = masked(field, entry, level + 1);
        if (!one) break;
        list.push(one.value);
      }
      return { value: list };
    }
    const fields: [string, unknown][] = [];
    for (const [key, entry] of Object.entries(inner)) {
      const name = plainName.test(key) ? key : hidden;
      const one = take(name.length + 3) ? masked(key, entry, level + 1) : undefined;
      if (!one) break;
      fields.push([name, one.value]);
    }
    return { value: Object.fromEntries(fields) };
  };
  const shown = masked('', value)?.value;
  return { shown, isCut };
}
