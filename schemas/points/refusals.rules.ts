// Refusals as a cashier reads them aloud: what is missing, the room, when again (docs/interface.md#7-errors); and what
// is wrong with the file of an import.
import type { ServiceError } from '../shared/errors.js';
import { type Catalogue, catalogues, type Language } from '../shared/languages/index.js';

type Details = Partial<Record<string, unknown>>;

const units = [
  { unit: 'day', seconds: 86_400 },
  { unit: 'hour', seconds: 3_600 },
  { unit: 'minute', seconds: 60 },
] as const;

/** Such as "in 3 minutes". Rounded up, and in a larger unit from two of it on. */
export function waitOf(language: Language, ms: number): string {
  const wait = Math.max(Math.ceil(ms / 1_000), 1);
  const { unit, seconds } = units.find((each) => wait >= 2 * each.seconds) ?? { unit: 'second', seconds: 1 };
  return new Intl.RelativeTimeFormat(language).format(Math.ceil(wait / seconds), unit);
}

type Limit = { details: Details; facts: ServiceError['facts'] };

function limitText(words: Catalogue['refusals'], { details, facts }: Limit, at: Spoken): string {
  const { limit, retryAt } = details;
  const waitMs = Date.parse(String(retryAt)) - at.now.getTime();
  const isDaily = limit === 'daily';
  const past = isDaily ? words.dailyPast : words.cooldownPast;
  const why = waitMs > 0 ? (isDaily ? words.daily : words.cooldown)(waitOf(at.language, waitMs)) : past;
  const isLate = facts.occurredAt !== undefined && facts.occurredAt < at.now;
  return isLate || waitMs <= 0 ? `${why} ${words.byHand}` : why;
}

const isAboutAmount = (mistakes: unknown): boolean =>
  Array.isArray(mistakes) && mistakes.some((mistake: { path?: unknown }) => mistake.path === 'amount');

/** What was wrong with a request, as far as a cashier can do something about it. */
function mistakeText(words: Catalogue['refusals'], { details, facts }: Refusal, now: Date): string {
  if (facts.occurredAt) return facts.occurredAt < now ? words.tooOld : words.ahead;
  return isAboutAmount(details) ? words.amount : words.VALIDATION_FAILED;
}

interface Spoken {
  language: Language;
  now: Date;
}

/** The sentences that depend on the details. */
function detailedText({ code, details, facts }: Refusal, at: Spoken): string | undefined {
  if (details === undefined) return undefined;
  const words = catalogues[at.language].refusals;
  const given = details as Details;
  const number = (name: string) => Number(given[name]);
  switch (code) {
    case 'CARD_FULL':
      return number('room') > 0 ? words.room(number('room')) : words.full;
    case 'CARD_NOT_FULL':
      return words.missing(number('missing'));
    case 'BALANCE_TOO_LOW':
      return words.low(number('current'), number('needed'), number('needed') - number('current'));
    case 'EARN_LIMIT_REACHED':
      return limitText(words, { details: given, facts }, at);
    case 'CURRENCY_MISMATCH':
      return words.currency(String(given.currency));
    default:
      return undefined;
  }
}

/** What is wrong with a file of an import, as far as its sender can do something about it. */
function fileText(words: Catalogue['refusals'], { file }: ServiceError['facts']): string | undefined {
  if (!file) return undefined;
  const { is, line = 1, columns = [] } = file;
  const text = words.file[is];
  return typeof text === 'string' ? text : text(is === 'columns' || is === 'twice' ? columns.join(', ') : String(line));
}

type Refusal = Pick<ServiceError, 'code' | 'details' | 'message' | 'facts'>;

/**
 * The `message` for developers, and what a person reads: `display` is undefined for a refusal that is for developers alone.
 */
export function sentencesOf(error: Refusal, at: Spoken): { message: string; display?: string } {
  const { code } = error;
  const message = detailedText(error, { ...at, language: 'en' }) ?? error.message;
  const words: Catalogue['refusals'] & Partial<Record<string, unknown>> = catalogues[at.language].refusals;
  const whole = code === 'VALIDATION_FAILED' ? mistakeText(words, error, at.now) : words[code];
  const display =
    detailedText(error, at) ?? fileText(words, error.facts) ?? (typeof whole === 'string' ? whole : undefined);
  return { message, ...(display !== undefined && { display }) };
}
